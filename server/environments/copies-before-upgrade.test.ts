import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, readMigrations } from '../database/migrate.ts'
import { emptyDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { addPlace } from '../variables/testing.ts'
import { createFinisher, type Workflow } from '../workflows/index.ts'
import { unfinishedCopies, unfinishedServiceCopies } from './clone-store.ts'

test('a failed copy without a stored state ends after the upgrade', async (t) => {
  const { sql } = await emptyDatabase(t)
  const all = await readMigrations()
  const before = all.slice(
    0,
    all.findIndex(({ name }) => name.endsWith('_copy_workflows.sql')),
  )
  await migrate(sql, { log: silentLogger, migrations: before })
  const { service } = await addPlace(sql)
  await sql`update environment set copying = ${newId()} where id = ${service.environmentId}`
  await sql`update service set copying = ${newId()} where id = ${service.serviceId}`
  const copies = [
    ['environment copy', service.environmentId],
    ['service copy', service.serviceId],
    ['deployment', service.environmentId],
  ] as const
  for (const [kind, key] of copies) {
    const id = newId()
    const input = sql.json({ of: key })
    await sql`insert into workflow ${sql({ id, kind, key, input, state: 'failed', error: 'the disk is full' })}`
    await sql`insert into workflow_step ${sql({ workflow_id: id, name: 'READ', started_at: new Date() })}`
  }

  await migrate(sql, { log: silentLogger })
  const steps = await sql`
    select w.kind from workflow w join workflow_step s on s.workflow_id = w.id where w.id::text = w.key order by w.kind`
  assert.deepEqual(
    steps.map(({ kind }) => kind),
    ['environment copy', 'service copy'],
  )
  const ended: unknown[] = []
  const kinds = { 'environment copy': unfinishedCopies, 'service copy': unfinishedServiceCopies }
  const workflows = Object.entries(kinds).map(
    ([name, unfinished]): Workflow => ({
      name,
      run: async () => {},
      abandoned: async (input, reason) => void ended.push([name, Object(input).of, reason]),
      unfinished,
    }),
  )
  await createFinisher({ database: sql, log: silentLogger, workflows }).reconcile(AbortSignal.timeout(60_000))
  assert.deepEqual(ended, [
    ['environment copy', service.environmentId, 'the disk is full'],
    ['service copy', service.serviceId, 'the disk is full'],
  ])
})
