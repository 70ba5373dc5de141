import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { repositorySizes } from './repository-sizes.ts'

test('repositories are measured by organization, without other directories and missing ones', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-sizes-'))
  t.after(() => rm(directory, { recursive: true }))
  const signal = AbortSignal.timeout(20_000)
  const [one, other] = ['0190c0de-0000-7000-8000-000000000001', '0190c0de-0000-7000-8000-000000000002']
  for (const [name, bytes] of [
    [`${one}/a.git`, 300_000],
    [`${one}/b.git`, 300_000],
    [`${other}/a.git`, 100_000],
    ['.home', 900_000],
  ] as const) {
    await mkdir(join(directory, name), { recursive: true })
    await writeFile(join(directory, name, 'pack'), randomBytes(bytes))
  }
  const sizes = await repositorySizes(directory, signal)
  assert.deepEqual([...sizes.keys()].sort(), [one, other])
  assert.ok((sizes.get(one) ?? 0) >= 600_000 && (sizes.get(one) ?? 0) < 900_000, `${sizes.get(one)}`)
  assert.ok((sizes.get(other) ?? 0) >= 100_000 && (sizes.get(other) ?? 0) < 300_000, `${sizes.get(other)}`)
  assert.equal((await repositorySizes(join(directory, 'not-there'), signal)).size, 0)
})
