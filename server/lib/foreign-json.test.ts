import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearby, parseForeign, readForeign } from './foreign-json.ts'
import { withOwner } from './owner.ts'
import { lengthReader } from './testing-foreign.ts'

const mebibyte = 2 ** 20
const filled = (head: string, unit: string, tail: string, bytes: number): Buffer =>
  Buffer.from(`${head}${unit.repeat(Math.floor((bytes - head.length - tail.length) / unit.length))}${tail}`)

describe('parseForeign', () => {
  it('returns the value of a text', () => {
    const value = { a: [1, '}],{[\\"', null], 'b"': { c: '\u00e9' } }
    assert.deepEqual(parseForeign(Buffer.from(JSON.stringify(value, null, 2))), value)
  })

  it('rejects a text before it is parsed: too long, too deep, or of too many values', () => {
    const deep = (levels: number) => Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    assert.throws(() => parseForeign(Buffer.alloc(nearby.bytes + 1)), { message: 'is longer than 4 MiB' })
    assert.throws(() => parseForeign(deep(101)), { message: 'is nested deeper than 100 levels' })
    assert.ok(parseForeign(deep(100)))
    assert.throws(() => parseForeign(filled('[', '[],', '[]]', mebibyte)), { message: /^has more than \d+ values$/ })
  })

  it('counts no brackets of strings', () => {
    const text = '[{,:\\"'.repeat(100_000)
    assert.deepEqual(parseForeign(Buffer.from(JSON.stringify([text]))), [text])
  })

  it('says of a text that is not JSON no part of it', () => {
    for (const text of ['canary', '{"canary": }', '"canary', '', '\ud800']) {
      assert.throws(() => parseForeign(Buffer.from(text)), { name: 'ForeignJsonProblem', message: 'is not JSON' })
    }
  })
})

const count = (json: Uint8Array, fails?: string) => readForeign(lengthReader, { json }, fails)

describe('readForeign', () => {
  it('reads a short text and a long one in the same way', async () => {
    for (const bytes of [100, 8 * mebibyte]) {
      const json = filled('[', '"12345678",', '1]', bytes)
      assert.equal(await count(json), Math.floor((bytes - 3) / 11) + 1)
      await assert.rejects(count(json, 'is odd'), { message: 'is odd' })
      const broken = Buffer.concat([json, Buffer.from('x')])
      await assert.rejects(count(broken), { message: 'is not JSON' })
    }
  })

  it('reads a part of a larger buffer', async () => {
    const json = Buffer.concat([Buffer.from('xx'), filled('[', '1,', '1]', mebibyte), Buffer.from('yy')])
    assert.ok((await count(json.subarray(2, -2))) > 500_000)
  })

  it('ends a worker that takes too much time, and the process continues', async () => {
    const text = { json: Buffer.alloc(mebibyte, ' '), limits: { limitMs: 300, memoryMiB: 64 } }
    await assert.rejects(readForeign(lengthReader, text, 'never ends'), { message: 'takes more than 0.3 s to read' })
  })

  it('reads the texts that take most memory, and rejects those with more values', async () => {
    const make = (parts: number, each: number, unit: (index: number) => string, [head, tail] = ['[', '1]']): Buffer =>
      Buffer.from(`${head}${Array.from({ length: parts / each }, (_, index) => unit(index)).join('')}${tail}`)
    const shapes = (parts: number): Buffer[] => [
      make(parts, 2, (index) => `"a${index}":1,`, ['{', '"z":1}']),
      make(parts, 4, (index) => `{"a${index}":{}},`),
      make(parts, 8, (index) => `{"${index}":{"${index}x":{"${index}y":{}}}},`),
    ]
    for (const json of shapes(1_999_900)) assert.ok((await count(json)) >= 0)
    for (const json of shapes(2_100_000)) await assert.rejects(count(json), { message: 'has more than 2000000 values' })
  })

  it('lets owners take turns: one with many texts does not delay another', async () => {
    const long = { json: Buffer.alloc(mebibyte, ' '), limits: { limitMs: 1000, memoryMiB: 64 } }
    const busy = Array.from({ length: 4 }, () =>
      withOwner('busy', () => readForeign(lengthReader, long, 'never ends').catch(() => 'ended')),
    )
    const json = filled('[', '1,', '1]', mebibyte)
    const first = await Promise.race([
      withOwner('other', () => count(json).then(() => 'read')),
      Promise.all(busy).then(() => 'late'),
    ])
    assert.equal(first, 'read')
    assert.deepEqual(await Promise.all(busy), Array(4).fill('ended'))
  })
})
