import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { extract, pack } from 'tar-stream'
import { isOfficialFrontend, replaceFile, requestedFrontend, withoutSyntaxLine } from './official-frontend.ts'

test('Docker’s own frontend is told from others', () => {
  for (const name of ['docker/dockerfile', 'docker/dockerfile:1', 'docker.io/docker/dockerfile:1.7-labs']) {
    assert.equal(isOfficialFrontend(name), true, name)
  }
  for (const name of [
    'attacker/frontend',
    'docker/dockerfile.evil/x',
    'evil.io/docker/dockerfile:1',
    'docker/dockerfile:1 x',
    'JSON',
  ]) {
    assert.equal(isOfficialFrontend(name), false, name)
  }
})

test('the syntax line becomes a comment, and lines keep their numbers', () => {
  const text = '# syntax=docker/dockerfile:1\n# a\nFROM x\n'
  const plain = withoutSyntaxLine(text)
  assert.equal(requestedFrontend(plain), undefined)
  assert.deepEqual(plain.split('\n').slice(1), text.split('\n').slice(1))
  assert.equal(withoutSyntaxLine('FROM x\n'), 'FROM x\n')
})

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
      ['Dockerfile', 'the new one'],
      ['sub/Dockerfile', large],
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
