import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStrictJson } from './strict-json.ts'
import { cpuMs } from './testing-cpu.ts'

const parse = (text: string): unknown => parseStrictJson(Buffer.from(text))

test('plain JSON is read as JSON.parse reads it', () => {
  for (const text of ['{"a":[1,{"b":"\\u00e9\\n"}],"c":null}', ' [ ] ', '"x"', '1e3', '\uFEFF{"bom":true}']) {
    assert.deepEqual(parse(text), JSON.parse(text.replace(/^\uFEFF/, '')))
  }
})

test('names of prototype members are plain data', () => {
  assert.deepEqual(Object.keys(parse('{"toString":1,"constructor":2,"hasOwnProperty":3}') as object), [
    'toString',
    'constructor',
    'hasOwnProperty',
  ])
})

const refused: Record<string, [string | Buffer, RegExp]> = {
  'duplicate keys': ['{"name":"a","name":"b"}', /"name" twice/],
  'duplicate keys, one escaped': ['{"name":"a","n\\u0061me":"b"}', /"name" twice/],
  'nested duplicate keys': ['{"a":{"b":1,"b":2}}', /"b" twice/],
  'a prototype key': ['{"__proto__":{}}', /__proto__/],
  'an escaped prototype key': ['{"\\u005f_proto__":{}}', /__proto__/],
  'a raw NUL': ['{"a":"x\0"}', /U\+0000/],
  'an escaped NUL': ['{"a":"\\u0000"}', /U\+0000/],
  'a lone surrogate': ['{"a":"\\ud800"}', /surrogate/],
  'invalid UTF-8': [Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
  'deep nesting': ['['.repeat(100_000) + ']'.repeat(100_000), /nested too deep/],
  'truncated text': ['{"a":"b', /not valid JSON/],
  'a trailing comma': ['{"a":1,}', /not valid JSON/],
  comments: ['{/* */}', /not valid JSON/],
  'single quotes': ["{'a':1}", /not valid JSON/],
  NaN: ['{"a":NaN}', /not valid JSON/],
}
for (const [what, [input, message]] of Object.entries(refused)) {
  test(`refuses ${what}`, () => {
    assert.throws(() => parseStrictJson(Buffer.from(input as string)), { code: 'invalid', message })
  })
}

test('fifty kilobytes of hostile text take hardly any time', () => {
  const started = cpuMs()
  for (const text of [`${'a'.repeat(50_000)}!`, `"${'\\'.repeat(50_000)}`, `{"${'a'.repeat(50_000)}":1}`]) {
    try {
      parse(text)
    } catch (error) {
      assert.match(String(error), /AppError|not valid JSON/)
    }
  }
  assert.ok(cpuMs() - started < 1000)
})
