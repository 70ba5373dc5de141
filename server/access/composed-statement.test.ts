import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from '../database/index.ts'
import { column, composeStatement } from './composed-statement.ts'

test('numbers the placeholders of nested fragments and returns values in their order', () => {
  const statement = composeStatement(2, (sql, key, id) => {
    const inner = sql`select 1 where id = ${id} and kind = ${'application'}`
    return sql`select * from token, (${inner}) t where key = ${key} or id = ${id}`
  })
  const text = 'select * from token, (select 1 where id = $1 and kind = $2) t where key = $3 or id = $4'
  assert.equal(statement.text, text)
  assert.deepEqual(statement.values('k', 'i'), ['i', 'application', 'k', 'i'])
  assert.deepEqual(statement.values('k2', 'i2'), ['i2', 'application', 'k2', 'i2'])
})

test('keeps a statement without parameters unchanged', () => {
  const statement = composeStatement(0, (sql) => sql`select 1`)
  assert.equal(statement.text, 'select 1')
  assert.deepEqual(statement.values(), [])
})

test('lets a fragment read a column of the statement around it', () => {
  const one = (sql: Sql, id: string) => sql`select 1 where id = ${id}`
  const statement = composeStatement(1, (sql, ids = '') => {
    return sql`select * from unnest(${ids}::uuid[]) as wanted (id), lateral (${one(sql, column('wanted.id'))}) t`
  })
  const text = 'select * from unnest($1::uuid[]) as wanted (id), lateral (select 1 where id = wanted.id) t'
  assert.equal(statement.text, text)
  assert.deepEqual(statement.values(['a', 'b']), [['a', 'b']])
})
