import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pack } from 'tar-stream'
import { systemClock as clock } from '../lib/clock.ts'
import { keepArchive } from './files.ts'

const { signal } = new AbortController()

async function* endless(): AsyncGenerator<Uint8Array> {
  const tar = pack()
  tar.entry({ name: 'volume/endless', size: 2 ** 32 })
  await once(tar, 'readable')
  const header: unknown = tar.read()
  if (header instanceof Uint8Array) yield header
  for (;;) {
    yield Buffer.alloc(1_048_576)
    await clock.sleep(1)
  }
}

test('an archive that never ends stops above the floor of the disk and leaves no file', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-backups-'))
  t.after(() => rm(directory, { recursive: true }))
  const place = { backup_id: 'b', number: 1, path: 'organization/service/b-1.qsb' }
  const keeping = keepArchive({ directory, floorBytes: 2 ** 60, clock }, place, endless(), signal)
  await assert.rejects(keeping, /of the disk of the backups is free.*QUAYSIDE_DISK_FLOOR/)
  assert.deepEqual(await readdir(join(directory, 'organization', 'service')), [])
})
