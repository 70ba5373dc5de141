import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ValuesInput, valuesOfChart } from './chart-values.ts'

const values = (input: Partial<ValuesInput>): unknown => {
  const found = valuesOfChart({ files: [], set: [], set_json: [], set_string: [], variables: {}, ...input })
  return 'json' in found ? JSON.parse(found.json) : found.problem
}
const file = (content: string) => ({ name: 'values.yaml', content })

test('later files win, and set_json, set and set_string follow in this order', () => {
  const files = [file('a: {b: 1, c: [1, 2]}\nd: x'), file('a: {c: [3]}\nd: null')]
  assert.deepEqual(values({ files }), { a: { b: 1, c: [3] }, d: null })
  const set_json = [['a', '{"j": [true]}']]
  const set = [
    ['a.b', '2'],
    ['n', 'true'],
  ]
  assert.deepEqual(values({ files, set_json, set, set_string: [['n', '7']] }), {
    a: { j: [true], b: 2 },
    d: null,
    n: '7',
  })
})

test('paths have indexes and escaped dots, and values the types of Helm', () => {
  const set = [
    ['list[1].name', 'x'],
    ['labels.a\\.b/c', '{1,two\\,three}'],
    ['zero', '007'],
    ['__proto__.polluted', 'true'],
  ]
  const found = values({ set })
  assert.deepEqual(Object(found).list, [null, { name: 'x' }])
  assert.deepEqual(Object(found).labels, { 'a.b/c': [1, 'two,three'] })
  assert.equal(Object(found).zero, '007')
  assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
})

test('a path that is none is refused', () => {
  assert.match(String(values({ set: [['a..b', '1']] })), /"a\.\.b" is not a path of values/)
  assert.match(String(values({ set: [['a[99999]', '1']] })), /too large an index/)
})

test('variables replace references after the YAML is read', () => {
  const variables = { PORT: '8080', TEXT: 'a: b\nc: "d', FLAG: 'true' }
  const content = 'port: qovery.env.PORT\nquoted: "{{PORT}}"\nurl: http://x:{{PORT}}/\ntext: {{TEXT}}\nflag: {{FLAG}}\n'
  const expected = { port: 8080, quoted: '8080', url: 'http://x:8080/', text: 'a: b\nc: "d', flag: true }
  assert.deepEqual(values({ files: [file(content)], variables }), expected)
  assert.deepEqual(values({ set_json: [['a', '["{{TEXT}}"]']], variables }), { a: [variables.TEXT] })
})

test('a variable that does not exist is an error with its name', () => {
  assert.match(String(values({ files: [file('a: qovery.env.GONE')] })), /values\.yaml refers to the variable GONE/)
})

test('values that are no YAML mapping are refused with file and line', () => {
  assert.match(String(values({ files: [file('a: 1\nb: [')] })), /^values\.yaml, line [23]:/)
  assert.match(String(values({ files: [file('- a')] })), /values\.yaml must be one YAML mapping/)
  assert.match(String(values({ files: [file('a: 1\n---\nb: 2')] })), /one YAML mapping/)
})

test('values are read as Helm reads them', () => {
  const content = 'yes: yes\nmode: 0644\ntime: 12:30:45\ndate: 2020-01-01\nbase: &b {x: 1}\nmore: {<<: *b}\n'
  const found = Object(values({ files: [file(content)] }))
  assert.deepEqual([found.mode, found.time, found.date, found.more], [420, '12:30:45', '2020-01-01', { x: 1 }])
})
