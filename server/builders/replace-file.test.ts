import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { extract, pack } from 'tar-stream'
import { replaceFile } from './replace-file.ts'

test('one file of an archive is replaced, everything else stays', async () => {
  const source = pack()
  const large = 'x'.repeat(300_000)
  source.entry({ name: 'sub/', type: 'directory' })
  source.entry({ name: 'Dockerfile' }, 'old')
  source.entry({ name: 'sub/Dockerfile' }, large)
  source.finalize()
  const found = new Map<string, string>()
  for await (const entry of replaceFile(Readable.from(source), 'Dockerfile', 'the new one').pipe(extract())) {
    let text = ''
    for await (const chunk of entry) text += chunk
    found.set(entry.header.name, text)
  }
  assert.deepEqual(
    [...found],
    [
      ['sub/', ''],
      ['sub/Dockerfile', large],
      ['Dockerfile', 'the new one'],
    ],
  )
})

test('a source that breaks off breaks the archive', async () => {
  const broken = new Readable({
    read() {
      this.destroy(new Error('gone'))
    },
  })
  await assert.rejects(async () => {
    for await (const _ of replaceFile(broken, 'Dockerfile', '')) assert.fail('nothing can come')
  }, /gone/)
})
