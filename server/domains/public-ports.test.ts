import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { databaseBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { inTransaction } from '../database/index.ts'
import { reservePublicPort } from './public-ports.ts'

/** Public databases on a machine with two ports for them. */
const settings = { QUAYSIDE_PUBLIC_PORTS: '30000-30001', QUAYSIDE_DOMAIN: 'apps.example.org' }
const { a, call, engine, database } = await createPlatform({ after }, { works: true, settings })
const { environmentId } = a.objects

const send = async (method: string, path: string, body?: object) => {
  const { status, body: answer, text } = await call(a.tokens.ADMIN, method, path, body)
  return { status, text, body: Object(answer) }
}
const make = (name: string) =>
  send('POST', `/environment/${environmentId}/database`, { ...databaseBody(name), accessibility: 'PUBLIC' })
const deploys = async (id: string): Promise<void> => {
  assert.equal((await send('POST', `/database/${id}/deploy`)).status, 202)
  const { state, reason } = await until('it is settled', async () => {
    const { body } = await send('GET', `/database/${id}/status`)
    return body.deployment_request_id === null ? body : undefined
  })
  assert.equal(state, 'DEPLOYED', reason)
}

test('public databases get their own ports until none is left', async () => {
  const [one, two] = [(await make('one')).body, (await make('two')).body]
  assert.deepEqual([one.port, two.port].sort(), [30_000, 30_001])
  assert.match(one.host, /^database-z[0-9a-f]{12}\.apps\.example\.org$/)
  assert.notEqual(one.host, two.host)
  const full = await make('three')
  assert.equal(full.status, 409)
  assert.match(full.text, /all public ports from 30000 to 30001 are taken/)
  assert.equal((await send('GET', `/environment/${environmentId}/database`)).text.includes('three'), false)

  await deploys(one.id)
  assert.equal(engine.publishes(one.port), true)
  const hidden = await send('PUT', `/database/${one.id}`, { accessibility: 'PRIVATE' })
  assert.deepEqual([hidden.body.port, hidden.status], [5432, 200])
  assert.equal(engine.publishes(one.port), true)
  // The database still answers there, so nobody else gets the port until it stops.
  assert.equal((await make('three')).status, 409)
  await deploys(one.id)
  assert.equal(engine.publishes(one.port), false)
  const three = await make('three')
  assert.equal(three.body.port, one.port)
})

test('a port is replaced when it is outside the range and kept when it is inside', async () => {
  const [row] = await database<{ id: string; host: string; port: number }[]>`
    select service_id as id, host, port from public_port order by port limit 1`
  assert.ok(row)
  const ask = (first: number, last: number) =>
    inTransaction(database, (sql) => reservePublicPort(sql, row, { first, last }))
  assert.equal((await ask(29_000, 31_000)).port, row.port)
  assert.equal((await ask(31_000, 31_000)).port, 31_000)
  assert.equal((await ask(30_000, 30_001)).port, row.port)
})

test('two services get different ports when they request them at the same time', async () => {
  await database`delete from public_port`
  const services = await database<{ id: string }[]>`select id from service where kind = 'database' limit 2`
  const found = await Promise.all(
    services.map(({ id }) =>
      inTransaction(database, (sql) => reservePublicPort(sql, { id, host: 'one' }, { first: 40_000, last: 40_001 })),
    ),
  )
  assert.deepEqual(found.map(({ port }) => port).sort(), [40_000, 40_001])
})
