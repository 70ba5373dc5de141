import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { measureLines } from './measure-lines.ts'

test('files of lines are summed by the service or execution that they are of', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'lines-'))
  t.after(() => rm(directory, { recursive: true }))
  await mkdir(join(directory, 'service', 'one'), { recursive: true })
  await mkdir(join(directory, 'deployment', 'two'), { recursive: true })
  await writeFile(join(directory, 'service', 'one', '1.log'), 'abc')
  await writeFile(join(directory, 'service', 'one', '2.log'), 'de')
  await writeFile(join(directory, 'deployment', 'two', '1.log'), 'f')
  const expected = new Map([
    ['one', 5],
    ['two', 1],
  ])
  assert.deepEqual(await measureLines('local', directory), { count: 3, bytes: 6, byOwner: expected })
  assert.equal((await measureLines('second', directory)).bytes, 0)
})

test('a directory that is missing takes nothing', async () => {
  assert.deepEqual(await measureLines('local', '/nonexistent/lines'), { count: 0, bytes: 0, byOwner: new Map() })
})
