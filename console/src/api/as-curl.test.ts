import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { asCurl } from './as-curl.ts'

const request = { method: 'POST', url: 'https://q.example/project/1', contentType: 'application/json' }

/** Lets a shell read the command, and returns the words that curl would get. */
const wordsOf = (command: string): string[] => {
  const script = `curl() { printf '%s\\0' "$@"; }; ${command}`
  const env = { QUAYSIDE_TOKEN: 'from the shell' }
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1)
}

test('a shell reads exactly the body and the address, whatever characters they have', () => {
  const body = { name: `it's "$(id)" \`id\` \\ $HOME\nline`, list: [1, null] }
  const words = wordsOf(asCurl([{ ...request, url: `${request.url}?a='b'`, body: JSON.stringify(body) }]))
  assert.equal(words[3], `${request.url}?a='b'`)
  assert.deepEqual(JSON.parse(words.at(-1) ?? ''), body)
  assert.ok(words.includes('Authorization: Bearer from the shell'))
})

test('a request without a body has no content type', () => {
  assert.deepEqual(wordsOf(asCurl([{ ...request, method: 'DELETE', contentType: undefined, body: undefined }])), [
    '--fail-with-body',
    '--request',
    'DELETE',
    request.url,
    '--header',
    'Authorization: Bearer from the shell',
  ])
})

test('secrets are left out', () => {
  const body = {
    key: 'A',
    value: 'hidden',
    is_secret: true,
    config: { username: 'u', password: 'hidden' },
    token: 'hidden',
  }
  const text = asCurl([{ ...request, body: JSON.stringify(body) }])
  assert.doesNotMatch(text, /hidden/)
  assert.match(text, /"value": "<secret>"/)
  assert.match(text, /"username": "u"/)
})

test('a body that is a file is left out as a whole, even if it is JSON', () => {
  for (const body of ['users: [{user: {token: hidden}}]', '{"client-key-data":"hidden"}']) {
    const text = asCurl([{ ...request, contentType: 'application/x-yaml', body }])
    assert.doesNotMatch(text, /hidden/)
    assert.match(text, /--data-binary @FILE$/)
  }
})

test('a text that the form knows as a secret is left out wherever it is', () => {
  const body = JSON.stringify({ value: 'hidden', list: [{ key: 'hidden' }], other: 'shown', empty: '' })
  const text = asCurl([{ ...request, body, secrets: ['hidden', ''] }])
  assert.doesNotMatch(text, /hidden/)
  assert.equal(text.match(/<secret>/g)?.length, 2)
  assert.match(text, /"other": "shown",\n {2}"empty": ""/)
})

test('characters that hide text or turn its direction are escaped', () => {
  const name = 'a\u202eb\u200bc\u009bd\u2028e\u{e0041}!f'
  const text = asCurl([{ ...request, body: JSON.stringify({ name }) }])
  assert.doesNotMatch(text, /[^\n -~]|!/)
  assert.deepEqual(JSON.parse(wordsOf(text).at(-1) ?? ''), { name })
})
