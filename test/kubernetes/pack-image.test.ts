import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from '../../server/lib/run.ts'
import { packImage } from './cluster/pack-image.ts'

async function makeFolder(folder: string, modified: Date): Promise<string> {
  await mkdir(join(folder, 'bin'), { recursive: true })
  await writeFile(join(folder, 'bin', 'program'), 'text')
  await chmod(join(folder, 'bin', 'program'), 0o755)
  await symlink('program', join(folder, 'bin', 'alias'))
  await utimes(join(folder, 'bin', 'program'), modified, modified)
  return folder
}

test('an image has the files, links and modes of its folder, and equal folders become equal images', async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'quayside-pack-'))
  t.after(() => rm(place, { recursive: true, force: true }))
  const [first, second] = [join(place, 'first.tar'), join(place, 'second.tar')]
  for (const [file, year] of [
    [first, '2001'],
    [second, '2002'],
  ] as const) {
    const folder = await makeFolder(join(place, year), new Date(`${year}-01-01`))
    await packImage({ name: 'localhost/test/it:1', folder, config: { Cmd: ['/bin/program'] }, file })
  }
  assert.deepEqual(await readFile(first), await readFile(second))

  const tar = async (...args: readonly string[]) => (await run('tar', args, { timeoutMs: 10_000 })).stdout.toString()
  await mkdir(join(place, 'unpacked'))
  await tar('-xf', first, '-C', join(place, 'unpacked'))
  const manifest = JSON.parse(await readFile(join(place, 'unpacked', 'manifest.json'), 'utf8'))
  assert.deepEqual(manifest[0].RepoTags, ['localhost/test/it:1'])
  const config = JSON.parse(await readFile(join(place, 'unpacked', manifest[0].Config), 'utf8'))
  assert.deepEqual(config.config, { Cmd: ['/bin/program'] })
  const listed = await tar('-tvf', join(place, 'unpacked', manifest[0].Layers[0]), '--numeric-owner')
  assert.match(listed, /^-rwxr-xr-x 0\/0 +4 1970-01-01 00:00 bin\/program$/m)
  assert.match(listed, /^lrwxrwxrwx 0\/0 .* bin\/alias -> program$/m)
})
