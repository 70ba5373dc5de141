import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Enum, Integer, List, Nullable, Text, Type, Uuid } from '@quayside/contract/schema.ts'
import { bodyValidator, isDateTime, queryValidator } from './validate.ts'

const body = bodyValidator(
  Type.Object({
    name: Text(5, 1),
    size: Type.Integer({ minimum: 1, maximum: 9, default: 3 }),
    mode: Type.Optional(Nullable(Enum(['A', 'B']))),
    id: Type.Optional(Uuid),
    ports: Type.Optional(List(Type.Object({ number: Integer(1, 65535) }), 2)),
    at: Type.Optional(Type.String({ format: 'date-time' })),
  }),
)

test('a validator fills in defaults, drops unknown members, and distinguishes null from absence', () => {
  assert.deepEqual(body({ name: 'a', more: 1 }), { name: 'a', size: 3 })
  assert.deepEqual(body({ name: 'a', size: 4, mode: null }), { name: 'a', size: 4, mode: null })
  assert.deepEqual(body({ name: 'a', ports: [{ number: 1, more: 1 }] }), { name: 'a', size: 3, ports: [{ number: 1 }] })
})

const refusals: [unknown, string][] = [
  [{}, 'name is required.'],
  [{ name: '' }, 'name must not be empty.'],
  [{ name: 'abcdef' }, 'name must have at most 5 characters.'],
  [{ name: 7 }, 'name must be a string.'],
  [{ name: 'a', size: '3' }, 'size must be a whole number.'],
  [{ name: 'a', size: 1.5 }, 'size must be a whole number.'],
  [{ name: 'a', size: 0 }, 'size must be ≥ 1.'],
  [{ name: 'a', size: 10 }, 'size must be ≤ 9.'],
  [{ name: 'a', mode: 'C' }, 'mode must be one of A, B.'],
  [{ name: 'a', id: 'x' }, 'id must be a valid uuid.'],
  [{ name: 'a', ports: [{ number: 1 }, { number: 0 }] }, 'ports[1].number must be ≥ 1.'],
  [{ name: 'a', ports: [{}] }, 'ports[0].number is required.'],
  [{ name: 'a', ports: [1, 2, 3] }, 'ports must have at most 2 entries.'],
  [{ name: 'a', at: 'soon' }, 'at must be a valid date-time.'],
  [[], 'The body must be an object.'],
  [null, 'The body must be an object.'],
]
for (const [value, message] of refusals) {
  test(`${JSON.stringify(value)} is rejected with "${message}"`, () => {
    assert.throws(() => body(value), { code: 'invalid', message })
  })
}

test('a length counts characters as people do', () => {
  assert.deepEqual(body({ name: '💥💥💥💥💥' }), { name: '💥💥💥💥💥', size: 3 })
})

test('a query validator reads numbers and booleans from strings, and rejects repeated names', () => {
  const query = queryValidator(Type.Object({ tail: Type.Optional(Integer(1)), all: Type.Optional(Type.Boolean()) }))
  assert.deepEqual(query({ tail: '5', all: 'true', other: 'x' }), { tail: 5, all: true })
  for (const bad of [
    { tail: 'x' },
    { tail: '0' },
    { tail: '1.5' },
    { tail: '' },
    { tail: ' 1' },
    { tail: ['1', '2'] },
    { all: '1x' },
  ]) {
    assert.throws(() => query(bad), { code: 'invalid', message: /^(tail|all) must/ })
  }
})

test('a date-time must be an RFC 3339 date that exists', () => {
  for (const good of ['2026-11-21T10:00:00Z', '2024-02-29t00:00:00.123+14:00', '9999-12-31T23:59:59-00:30']) {
    assert.ok(isDateTime(good), good)
  }
  for (const bad of [
    '2026-02-29T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21 10:00:00Z',
    '2026-11-21T10:00:00',
    '1969-12-31T00:00:00Z',
    '2026-11-21T10:00:00+15:00',
    '',
  ]) {
    assert.ok(!isDateTime(bad), bad)
  }
})
