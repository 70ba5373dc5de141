import assert from 'node:assert/strict'
import { mkdir, readlink, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { run } from '../lib/run.ts'
import { copyOnce, findBinaries, linkLibraries } from './binaries.ts'
import { temporaryDirectory } from './test-support.ts'

test('missing symbolic links of libraries are created, also concurrently and repeatedly', async (t) => {
  const root = await temporaryDirectory(t)
  await mkdir(join(root, 'native/lib'), { recursive: true })
  await writeFile(join(root, 'native/lib/liba.so.1.2'), 'library')
  const list = [{ source: 'native/lib/liba.so.1.2', target: 'native/lib/liba.so.1' }]
  await writeFile(join(root, 'native/pg-symlinks.json'), JSON.stringify(list))
  await Promise.all([1, 2, 3].map(() => linkLibraries(join(root, 'native'))))
  await linkLibraries(join(root, 'native'))
  assert.equal(await readlink(join(root, 'native/lib/liba.so.1')), 'liba.so.1.2')
})

test('a copy of the programs runs, and everybody may read it', async (t) => {
  const root = await temporaryDirectory(t)
  const original = await findBinaries(undefined, root)
  const native = dirname(dirname(original.postgres))
  const [home] = await Promise.all([copyOnce(native, join(root, 'copy')), copyOnce(native, join(root, 'copy'))])
  const version = await run(join(home, 'bin/postgres'), ['--version'], { timeoutMs: 10_000 })
  assert.match(version.stdout.toString(), new RegExp(`^postgres \\(PostgreSQL\\) ${original.major}\\.`))
  assert.equal(await readlink(join(home, 'lib/libpq.so.5')), await readlink(join(native, 'lib/libpq.so.5')))
  for (const file of ['bin', 'bin/postgres', 'share/postgresql', 'share/postgresql/postgres.bki']) {
    assert.equal((await stat(join(home, file))).mode & 0o004, 0o004, file)
  }
})
