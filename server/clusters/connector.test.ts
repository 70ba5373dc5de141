import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { silentLogger } from '../lib/log.ts'
import { createConnector } from './connector.ts'
import { engineNameOf } from './engine-name.ts'
import { addOrganization } from './testing.ts'

const { signal } = new AbortController()

/** A connector whose drivers are records of what happened, and clusters of one organization. */
async function openBench(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const { organizationId } = await addOrganization(sql)
  const happened: string[] = []
  let broken: string | undefined
  const connector = createConnector({
    database: sql,
    log: silentLogger,
    connect: ({ engine: name }) => {
      if (name === broken) throw new Error('it is broken')
      happened.push(`connect ${name}`)
      return { close: () => void happened.push(`close ${name}`) }
    },
    join: (name) => void happened.push(`join ${name}`),
    leave: (name) => void happened.push(`leave ${name}`),
  })
  return {
    sql,
    connector,
    add: (name: string, kubeconfig: string | null) => addCluster(sql, organizationId, name, kubeconfig),
    /** Breaks the drivers of an engine, or none. */
    break: (engine: string | undefined) => {
      broken = engine
    },
    /** Whether the connector has work by its condition, and what it does then. */
    look: async () => {
      const [row] = await sql<{ due: boolean }[]>`select ${connector.due(sql)} as due`
      await connector.reconcile(signal)
      return [row?.due, ...happened.splice(0)]
    },
  }
}

async function addCluster(sql: Database, organizationId: string, name: string, kubeconfig: string | null) {
  const [row] = await sql<{ id: string }[]>`
    insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes,
      sealed_kubeconfig)
    values (${idOf(name)}, ${organizationId}, now(), now(), ${name}, 'here', 'ON_PREMISE', 'SELF_MANAGED',
      ${kubeconfig}) returning id`
  return row?.id ?? ''
}

/** Ids in the order of names of one letter. */
const idOf = (name: string): string => `${name.repeat(8)}-0000-4000-8000-000000000000`
const engine = (name: string): string => engineNameOf(idOf(name))

const sealed = (text: string) => `v1.${Buffer.from(text).toString('base64url')}`

test('clusters with a kubeconfig are connected once', async (t) => {
  const { add, look } = await openBench(t)
  assert.deepEqual(await look(), [false])
  await add('b', sealed('one'))
  await add('a', sealed('one'))
  await add('c', null)
  assert.deepEqual(await look(), [
    true,
    `connect ${engine('a')}`,
    `join ${engine('a')}`,
    `connect ${engine('b')}`,
    `join ${engine('b')}`,
  ])
  assert.deepEqual(await look(), [false])
})

test('a new kubeconfig replaces the drivers, and a cluster that is gone loses them', async (t) => {
  const { sql, add, look } = await openBench(t)
  const [first, second] = [await add('a', sealed('one')), await add('b', sealed('one'))]
  await look()
  await sql`update cluster set sealed_kubeconfig = ${sealed('two')} where id = ${first}`
  assert.deepEqual(await look(), [
    true,
    `leave ${engine('a')}`,
    `close ${engine('a')}`,
    `connect ${engine('a')}`,
    `join ${engine('a')}`,
  ])
  const dns = { provider: 'QOVERY', domain: 'apps.test' }
  await sql`update cluster set dns_provider = ${sql.json(dns)} where id = ${first}`
  assert.equal((await look()).length, 5)
  await sql`update cluster set name = 'renamed' where id = ${first}`
  assert.deepEqual(await look(), [false])
  await sql`delete from cluster where id = ${second}`
  assert.deepEqual(await look(), [true, `leave ${engine('b')}`, `close ${engine('b')}`])
})

test('drivers that cannot be created keep no other cluster from being connected, and are tried again', async (t) => {
  const bench = await openBench(t)
  bench.break(engine('a'))
  await bench.add('a', sealed('one'))
  await bench.add('b', sealed('one'))
  assert.deepEqual(await bench.look(), [true, `connect ${engine('b')}`, `join ${engine('b')}`])
  assert.deepEqual(await bench.look(), [true])
  bench.break(undefined)
  assert.deepEqual(await bench.look(), [true, `connect ${engine('a')}`, `join ${engine('a')}`])
})
