import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { extract, pack } from 'tar-stream'
import { createIgnorer } from './ignore-file.ts'
import { replaceFile } from './replace-file.ts'

test('replaceFile replaces one file of an archive and keeps everything else', async () => {
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

test('replaceFile omits ignored entries, except the file itself and directories above an exception', async () => {
  const source = pack()
  for (const name of ['a/', 'a/b/', 'a/c/']) source.entry({ name, type: 'directory', mode: 0o700 })
  for (const name of ['.dockerignore', '.env', 'Dockerfile', 'a/.env']) source.entry({ name }, 'x')
  source.entry({ name: 'link', type: 'symlink', linkname: '.env' })
  source.entry({ name: 'a/z/', type: 'directory', mode: 0o700 })
  source.entry({ name: 'a/z/kept' }, 'x')
  source.finalize()
  const ignorer = createIgnorer({ path: '.dockerignore', text: '*\n!a/z/kept\n' })
  const found: (readonly [string, number | undefined])[] = []
  for await (const entry of replaceFile(Readable.from(source), 'Dockerfile', 'new', { ignorer }).pipe(extract())) {
    found.push([entry.header.name, entry.header.mode])
    entry.resume()
  }
  assert.deepEqual(found, [
    ['a/z/', 0o700],
    ['a/z/kept', 0o644],
    ['Dockerfile', 0o644],
  ])
})

test('replaceFile ends the archive with a message when a pattern takes too long', async () => {
  const source = pack()
  source.entry({ name: 'a'.repeat(90) }, 'x')
  source.finalize()
  const ignorer = createIgnorer({ path: '.dockerignore', text: `${'*a'.repeat(300)}b\n`.repeat(1700) })
  await assert.rejects(async () => {
    for await (const _ of replaceFile(Readable.from(source), 'Dockerfile', '', { ignorer })) assert.ok(true)
  }, /too long to compare/)
})

test('replaceFile fails when its source ends early', async () => {
  const broken = new Readable({
    read() {
      this.destroy(new Error('gone'))
    },
  })
  await assert.rejects(async () => {
    for await (const _ of replaceFile(broken, 'Dockerfile', '')) assert.fail('nothing can come')
  }, /gone/)
})
