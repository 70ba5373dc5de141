import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

const read = (url: string) => readConfig({ QUAYSIDE_DATA: '/nonexistent', QUAYSIDE_DATABASE_URL: url }).databaseUrl

test('an address of a database that cannot be read is refused by name, without its password', () => {
  for (const url of ['postgres://u:geheim@[bad', 'postgres://u:geheim@h:99999/x', 'http://u:geheim@h/x', 'geheim']) {
    assert.throws(
      () => read(url),
      (error) => error instanceof ConfigError && /^QUAYSIDE_DATABASE_URL must be/.test(error.message) &&
        !JSON.stringify([error.message, error.stack, error]).includes('geheim'),
      url,
    )
  }
}) // biome-ignore format: one expression

test('addresses of databases are taken as they are, sockets included', () => {
  for (const url of ['postgres://u:p@h/x', 'postgresql://u@h:5433/x?sslmode=require', 'postgres:///x?host=/run/postgresql'])
    assert.equal(read(url), url)
  assert.equal(read(''), undefined)
}) // biome-ignore format: one line
