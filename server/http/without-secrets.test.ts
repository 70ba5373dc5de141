import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeText, withoutSecrets } from './without-secrets.ts'

test('withoutSecrets removes the strings of secret fields at any depth', () => {
  const record = {
    token: 'x',
    git_token_id: 'id',
    git_token_name: 'name',
    target_secret_set: true,
    secret: true,
    list: [{ password: 'x', target_secret: 'x', name: 'kept' }],
    credentials: { access_key_id: 'AKIA', secret_access_key: 'x', scaleway_secret_key: 'x' },
    value: null,
  }
  assert.deepEqual(withoutSecrets(record), {
    git_token_id: 'id',
    git_token_name: 'name',
    target_secret_set: true,
    secret: true,
    list: [{ name: 'kept' }],
    credentials: { access_key_id: 'AKIA' },
    value: null,
  })
})

test('changeText keeps only id and name when the record is too long', () => {
  assert.deepEqual(JSON.parse(changeText({ id: 'i', name: 'n', text: 'x'.repeat(70_000) })), {
    id: 'i',
    name: 'n',
    omitted: '70031 characters',
  })
  assert.equal(changeText(undefined), '{}')
})
