import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { readAccess } from './kubeconfig.ts'

const pem = (kind: string) => Buffer.from(`-----BEGIN ${kind}-----\nAAAA\n-----END ${kind}-----\n`).toString('base64')
const server = 'https://kubernetes.example.org:6443'
const authority = pem('CERTIFICATE')

const kubeconfig = (cluster: object, user: object, more: object = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [
      { name: 'other', cluster: { server: 'https://other.example.org' } },
      { name: 'one', cluster: { server, ...cluster } },
    ],
    contexts: [{ name: 'here', context: { cluster: 'one', user: 'me' } }],
    users: [{ name: 'me', user }],
    ...more,
  })
const anywhere = () => true

test('the cluster and the user of the current context are read', async () => {
  const withToken = await readAccess(
    kubeconfig({ 'certificate-authority-data': authority }, { token: 'abc' }),
    anywhere,
  )
  assert.equal(withToken.server, server)
  assert.match(withToken.authority ?? '', /BEGIN CERTIFICATE/)
  assert.equal(withToken.token?.reveal(), 'abc')
  const user = { 'client-certificate-data': authority, 'client-key-data': pem('RSA PRIVATE KEY') }
  const withCertificate = await readAccess(kubeconfig({ 'tls-server-name': 'inside' }, user), anywhere)
  assert.equal(withCertificate.serverName, 'inside')
  assert.match(withCertificate.key?.reveal() ?? '', /PRIVATE KEY/)
  assert.equal(withCertificate.token, undefined)
  assert.doesNotMatch(JSON.stringify(withCertificate), /RSA PRIVATE/)
})

const token = { token: 'abc' }
const rejected: readonly (readonly [string, string, RegExp])[] = [
  ['a program to start', kubeconfig({}, { exec: { command: 'aws' } }), /^exec is not accepted/],
  ['a provider', kubeconfig({}, { 'auth-provider': { name: 'gcp' } }), /^auth-provider is not accepted/],
  ['a file with a token', kubeconfig({}, { tokenFile: '/etc/shadow' }), /^tokenFile is not accepted/],
  ['a file with a key', kubeconfig({}, { 'client-key': '/etc/shadow' }), /^client-key is not accepted/],
  ['a file with an authority', kubeconfig({ 'certificate-authority': '/a' }, token), /^certificate-authority is not/],
  ['an unproven server', kubeconfig({ 'insecure-skip-tls-verify': true }, token), /^insecure-skip-tls-verify is not/],
  ['a proxy', kubeconfig({ 'proxy-url': 'http://proxy' }, token), /^proxy-url is not accepted/],
  ['another user', kubeconfig({}, { ...token, as: 'root' }), /^as is not accepted/],
  ['a password', kubeconfig({}, { username: 'a', password: 'b' }), /^username is not accepted/],
  ['plain http', kubeconfig({ server: 'http://kubernetes.example.org' }, token), /begins with https/],
  ['a password in the address', kubeconfig({ server: 'https://a:b@c.org' }, token), /must not contain a password/],
  ['no credentials', kubeconfig({}, {}), /needs a token, or/],
  ['a token of two lines', kubeconfig({}, { token: 'a\nb' }), /needs a token, or/],
  [
    'an authority that is none',
    kubeconfig({ 'certificate-authority-data': 'eA==' }, token),
    /must be base64 of a text/,
  ],
  ['no current context', kubeconfig({}, token, { 'current-context': '' }), /current-context must name/],
  ['an unknown cluster', kubeconfig({}, token, { clusters: [] }), /cluster of the current context is missing/],
  ['an unknown user', kubeconfig({}, token, { users: [] }), /user of the current context is missing/],
]
for (const [name, text, message] of rejected) {
  test(`a kubeconfig with ${name} is rejected`, async () => {
    await assert.rejects(readAccess(text, anywhere), { code: 'invalid', message })
  })
}

test('a server at an address that is not allowed is rejected', async () => {
  const asked: string[] = []
  const refuse = (host: string): boolean => {
    asked.push(host)
    return false
  }
  await assert.rejects(readAccess(kubeconfig({ server: 'https://[::1]:6443' }, token), refuse), /is not public/)
  assert.deepEqual(asked, ['[::1]'])
})
