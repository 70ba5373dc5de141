import assert from 'node:assert/strict'
import { chown, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { atEnd } from '../../test/support/at-end.ts'
import { databaseUser } from './database-user.ts'
import { startEmbedded } from './embedded.ts'
import { unusedSegments } from './left-segments.ts'

const log = pino({ level: 'silent' })
const at = (changedMs: number) => ({ path: `at ${changedMs}`, changedMs })
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

test('a segment is unused if it is older than every running PostgreSQL', () => {
  assert.deepEqual(unusedSegments([at(1), at(50_000)], [20_000, 60_000]), [at(1)])
  assert.deepEqual(unusedSegments([at(19_000)], [20_000]), [], 'too near to tell')
  assert.deepEqual(unusedSegments([at(1)], []), [at(1)])
})

test('a start removes segments of a killed PostgreSQL, and keeps those that a running one could use', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-segments-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const { signal } = new AbortController()
  const uid = (await databaseUser(signal))?.uid ?? process.getuid?.() ?? 0
  const running = await startEmbedded({ directory: join(directory, 'first'), log, signal })
  atEnd(t, () => running.stop())
  const [left, used, foreign, other] = ['1', '2', '3']
    .map((end) => `/dev/shm/PostgreSQL.9999${process.pid}${end}`)
    .concat('/dev/shm/quayside-test')
  const paths = [left, used, foreign, other].filter((path) => path !== undefined)
  t.after(() => Promise.all(paths.map((path) => rm(path, { force: true }))))
  for (const path of paths) {
    await writeFile(path, 'x')
    await chown(path, path === foreign ? uid + 1 : uid, -1).catch(() => {})
    if (path !== used) await utimes(path, 1, 1)
  }

  const second = await startEmbedded({ directory: join(directory, 'second'), log, signal })
  atEnd(t, () => second.stop())
  const isForeign = process.getuid?.() === 0
  assert.deepEqual(await Promise.all(paths.map(exists)), [false, true, isForeign, true])
})
