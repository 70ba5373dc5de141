import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DatabaseType } from '@quayside/contract/services/database.ts'
import { versionRefusal } from './database-version.ts'

const refusal = (type: DatabaseType, from: string, to: string) => versionRefusal(type, { from, to, name: 'orders' })

test('a version can change when it opens the data of the previous one', () => {
  const open: [DatabaseType, string, string][] = [
    ['POSTGRESQL', '15', '15'],
    ['POSTGRESQL', '15.3', '15.14'],
    ['POSTGRESQL', '15.14', '15.3'],
    ['POSTGRESQL', '15', '15-alpine'],
    ['MYSQL', '8.0', '8.4'],
    ['MYSQL', '8.4', '8'],
    ['MONGODB', '7.0', '7.0.2'],
    ['REDIS', '6.2', '7'],
  ]
  for (const [type, from, to] of open) assert.equal(refusal(type, from, to), undefined, `${type} ${from} ${to}`)
  const closed: [DatabaseType, string, string][] = [
    ['POSTGRESQL', '15', '16'],
    ['POSTGRESQL', '16.1', '15.3'],
    ['MYSQL', '8.4', '9'],
    ['MYSQL', '8.4', '8.0'],
    ['MYSQL', '10.11', '8.4'],
    ['MONGODB', '7.0', '8.0'],
    ['REDIS', '7.2', '6.2'],
  ]
  for (const [type, from, to] of closed) assert.ok(refusal(type, from, to), `${type} ${from} ${to}`)
})

test('a rejected version says what to do', () => {
  assert.equal(
    refusal('POSTGRESQL', '15', '16'),
    '"orders" has data of PostgreSQL 15, which PostgreSQL 16 does not open. Create another database with ' +
      'version 16, and dump and ' +
      'restore the data (pg_dump and psql); or uninstall this one, which erases its data.',
  )
})
