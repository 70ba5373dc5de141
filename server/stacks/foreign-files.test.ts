import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestHoldMs } from '../../bench/longest-hold.ts'
import { Secret } from '../lib/secret.ts'
import { planIn, resultIn } from './foreign-files.ts'
import { readState } from './state-file.ts'

const mebibyte = 2 ** 20
const filled = (head: string, unit: string | ((index: number) => string), tail: string, size: number): Buffer => {
  // Few strings: the collection of many would hold the thread while a text is read.
  if (typeof unit === 'string') return Buffer.from(`${head}${unit.repeat((size - 200) / unit.length)}${tail}`)
  const parts = [head]
  for (let index = 0, length = 0; length < size - 200; index++) {
    const part = unit(index)
    parts.push(part)
    length += part.length
  }
  return Buffer.from([...parts, tail].join(''))
}
const created = '{"actions":["create"]}'
const secrets = [new Secret('canary-secret-value')]

/** Reads, and asserts that others had their turn. Other tests use the machine at the same time. */
async function quickly<T>(read: () => Promise<T>): Promise<T | string> {
  let result: T | string = ''
  const holdMs = await longestHoldMs(async () => {
    result = await read().catch((error: Error) => error.message)
  })
  assert.ok(holdMs < 400, `held for ${holdMs} ms`)
  return result
}

const resources = '{"resource_changes":[{"address":"a.b","change":{"actions":["create"],"after":{'
const plans: Readonly<Record<string, readonly [() => Buffer, string | undefined]>> = {
  'a nested output': [
    () => filled('{"output_changes":{"a":', '[', '}}', 32 * mebibyte),
    'is nested deeper than 100 levels',
  ],
  'many outputs': [
    () => filled('{"output_changes":{', (index) => `"o${index}":${created},`, `"z":${created}}}`, 32 * mebibyte),
    'has more than 1000000 values',
  ],
  'many attributes': [
    () => filled(resources, (index) => `"a${index}":1,`, '"z":1}}}]}', 32 * mebibyte),
    'has more than 1000000 values',
  ],
  'one text': [() => filled(`${resources}"a":"`, 'x', '"}}}]}', 32 * mebibyte), undefined],
  '100,000 resources': [
    () =>
      filled(
        '{"resource_changes":[',
        `{"address":"a","change":{"actions":["create"],"after":{"a":"${'x'.repeat(300)}"}}},`,
        '0]}',
        32 * mebibyte,
      ),
    undefined,
  ],
}
for (const [name, [make, problem]] of Object.entries(plans)) {
  test(`a plan of 32 MiB of ${name} does not stop the server`, async () => {
    const json = make()
    const read = await quickly(() => planIn(json, secrets))
    if (problem !== undefined) assert.equal(read, problem)
    else assert.equal(Object(read).has_changes, true)
  })
}

test('a long plan is summarized as a short one, without secrets', async () => {
  const change = { actions: ['create'], after: { text: 'is canary-secret-value', name: 'b' } }
  const plan = {
    resource_changes: [{ address: 'a["x\u0000\ud83d"]', change }],
    output_changes: { url: { actions: ['create'] } },
  }
  const short = await planIn(Buffer.from(JSON.stringify(plan)), secrets)
  const long = await planIn(Buffer.from(JSON.stringify({ ...plan, prior_state: 'x'.repeat(mebibyte) })), secrets)
  assert.deepEqual(long, short)
  assert.deepEqual([short.counts.create, short.outputs], [1, ['url']])
  assert.doesNotMatch(JSON.stringify(short), /canary/)
  // A column of the database takes neither U+0000 nor half of a character.
  assert.equal(short.resources[0]?.address, 'a["x\ufffd\ufffd"]')
})

test('a summary lists a limited number of outputs', async () => {
  const json = filled('{"output_changes":{', (index) => `"o${index}":${created},`, `"z":${created}}}`, 200_000)
  const { outputs, has_changes } = await planIn(json, [])
  assert.deepEqual([outputs.length, has_changes], [1000, true])
})

test('a result of very many values is rejected, and attributes beyond the limit are left out', async () => {
  const result = (unit: string, count: number): Buffer =>
    Buffer.from(
      JSON.stringify({ values: { root_module: { resources: [{ address: 'a.b', values: { a: '' } }] } } }).replace(
        '""',
        `[${unit.repeat(count)}0]`,
      ),
    )
  const many = result('[],', 3_000_000)
  assert.equal(await quickly(() => resultIn(many, [])), 'has more than 1000000 values')
  const [resource] = (await resultIn(result('[],', 300_000), [])).resources
  assert.deepEqual([resource?.address, resource?.attributes], ['a.b', '{}'])
  const [small] = (await resultIn(result('[1],', 10), [])).resources
  assert.deepEqual(JSON.parse(small?.attributes ?? ''), { a: [...Array(10).fill([1]), 0] })
})

test('a state of 16 MiB is read, and a hostile one does not stop the server', async () => {
  const head = '{"version":4,"serial":7,"lineage":"one","resources":['
  const state = filled(head, '{"name":"a.b","text":"0123456789012345678901234567890123456789"},', '0]}', 16 * mebibyte)
  assert.equal(Object(await quickly(() => readState(state))).serial, 7)
  for (const unit of ['[],', '[']) {
    const hostile = filled(head, unit, '0]}', 16 * mebibyte)
    assert.equal(await quickly(() => readState(hostile)), undefined)
  }
})
