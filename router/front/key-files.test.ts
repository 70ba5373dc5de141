import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import test from 'node:test'
import { selfSigned } from '../../test/support/self-signed.ts'
import { keyFolderPrefix, writeKeyFiles } from './key-files.ts'

const named = (host: string) => ({ host, chain: selfSigned.cert, key: selfSigned.key })

test('keys are in files of a RAM disk that only this user may read, until they are removed', async () => {
  const owner = `key-files-test-${process.pid}`
  const written = await writeKeyFiles([named('a.test'), named('*.b.test'), named(`${'x'.repeat(250)}`)], owner)
  assert.ok(written)
  const lines = [...written.lines.values()].map((line) => line.trim().split(' '))
  assert.deepEqual(
    lines.map(([, host]) => host),
    ['a.test', '*.b.test', 'x'.repeat(250)],
  )
  const [path = ''] = lines[0] ?? []
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal((await stat(dirname(path))).mode & 0o777, 0o700)
  assert.match(await readFile(path, 'utf8'), /^-----BEGIN CERTIFICATE-----\n[\s\S]*PRIVATE KEY-----\n$/)
  await written.remove()
  await assert.rejects(stat(dirname(path)), { code: 'ENOENT' })
})

test('files that a killed process left are removed, and files of other installations stay', async () => {
  const owner = `key-files-left-${process.pid}`
  const [left, other] = [await writeKeyFiles([named('a.test')], owner), await writeKeyFiles([], `${owner}-other`)]
  const folderOf = (written: typeof left) => dirname([...(written?.lines.values() ?? [])].join().split(' ')[0] ?? '')
  const prefix = keyFolderPrefix(owner)
  assert.ok(folderOf(left).startsWith(prefix))
  await mkdir(`${prefix}second`, { mode: 0o700 })
  const next = await writeKeyFiles([named('a.test')], owner)
  const found = (await readdir('/dev/shm')).filter((name) => `/dev/shm/${name}`.startsWith(prefix))
  assert.deepEqual(
    found.map((name) => `/dev/shm/${name}`),
    [folderOf(next)],
  )
  await Promise.all([next?.remove(), other?.remove()])
})

test('no key is written to a disk', async () => {
  assert.equal(await writeKeyFiles([named('a.test')], 'owner', import.meta.dirname), undefined)
})
