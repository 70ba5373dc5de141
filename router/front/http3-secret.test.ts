import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { http3Secret } from './http3.ts'

async function place(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-http3-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

test('the secret of HTTP/3 is made once, and only its user reads it', async (t) => {
  const folder = await place(t)
  const file = join(folder, 'http3.secret')
  const secret = await http3Secret(file)
  assert.match(secret, /^[0-9a-f]{64}$/)
  assert.equal(await http3Secret(file), secret)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(folder), ['http3.secret'])
})

test('a file whose writing was interrupted gets another secret', async (t) => {
  const file = join(await place(t), 'http3.secret')
  for (const damaged of ['', 'abc', 'a b\n  stats socket /evil']) {
    await writeFile(file, damaged)
    const secret = await http3Secret(file)
    assert.match(secret, /^[0-9a-f]{64}$/)
    assert.equal(await http3Secret(file), secret)
  }
})
