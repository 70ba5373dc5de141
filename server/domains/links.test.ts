import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlOf } from './links.ts'

test('an address names its port only where it is not the usual one', () => {
  assert.equal(urlOf('a.localhost', { scheme: 'http', port: 8080 }), 'http://a.localhost:8080')
  assert.equal(urlOf('a.localhost', { scheme: 'http', port: 80 }), 'http://a.localhost')
  assert.equal(urlOf('a.example', { scheme: 'https', port: 443 }), 'https://a.example')
  assert.equal(urlOf('a.example', { scheme: 'https', port: 80 }), 'https://a.example:80')
})
