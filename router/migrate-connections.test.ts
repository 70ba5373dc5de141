import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrateConnections } from './migrate-connections.ts'

test('migrates connections unless the kernel lacks the setting', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-migrate-'))
  t.after(() => rm(directory, { recursive: true }))
  const setting = join(directory, 'tcp_migrate_req')
  assert.equal(await migrateConnections(setting), false, 'a kernel without the setting')
  await writeFile(setting, '0')
  assert.equal(await migrateConnections(setting), true)
  assert.equal(await readFile(setting, 'utf8'), '1')
  await assert.rejects(migrateConnections(directory), { code: 'EISDIR' })
})
