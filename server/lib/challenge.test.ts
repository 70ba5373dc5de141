import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mayGetPassword, parseChallenge, tokenOf } from './challenge.ts'

const realmOf = (header: string): string | undefined => {
  const found = parseChallenge(header)
  return found?.scheme === 'bearer' ? found.realm.href : found?.scheme
}

describe('challenges', () => {
  it('are read as registries write them', () => {
    assert.equal(realmOf('Basic realm="x"'), 'basic')
    assert.equal(
      realmOf('Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull"'),
      'https://auth.docker.io/token?service=registry.docker.io&scope=repository%3Aa%2Fb%3Apull',
    )
    assert.equal(realmOf('bearer Realm="https://a.example/t?x=1", SERVICE="s"'), 'https://a.example/t?x=1&service=s')
  })

  it('are nothing without a scheme that is known and a realm that is an address', () => {
    for (const header of [
      '',
      'Negotiate',
      'Bearer',
      'Bearer realm=""',
      'Bearer realm="nowhere"',
      'Digest realm="https://a"',
    ])
      assert.equal(parseChallenge(header), undefined, header)
    assert.equal(parseChallenge(undefined), undefined)
  })

  it('take no longer when they are long', () => {
    const began = performance.now()
    for (const text of ['a'.repeat(1e6), 'a="'.repeat(3e5), 'realm=""'.repeat(1e5)]) parseChallenge(`Bearer ${text}`)
    assert.ok(performance.now() - began < 500)
  })
})

describe('a password', () => {
  const may = (server: string, realm: string, proof: 'certificate' | 'none' = 'certificate') =>
    mayGetPassword(new URL(server), new URL(realm), proof)

  it('goes to the realm of a server that proved itself, over TLS alone', () => {
    assert.equal(may('https://registry-1.docker.io', 'https://auth.docker.io/token'), true)
    assert.equal(may('https://registry.example.com', 'https://gitlab.example.com/jwt/auth'), true)
    assert.equal(may('https://registry.example.com', 'http://registry.example.com/token'), false)
    assert.equal(may('https://registry.example.com', 'https://u:p@registry.example.com/token'), false)
  })

  it('goes nowhere else on the word of a server without that proof', () => {
    assert.equal(may('http://127.0.0.1:5000', 'http://127.0.0.1:5000/token', 'none'), true)
    assert.equal(may('http://127.0.0.1:5000', 'http://127.0.0.1:5001/token', 'none'), false)
    assert.equal(may('http://127.0.0.1:5000', 'https://evil.example/token', 'none'), false)
    assert.equal(may('https://registry.lan', 'https://evil.example/token', 'none'), false)
    assert.equal(may('https://registry.lan', 'https://registry.lan/token', 'none'), true)
  })
})

it('tokens that do not fit a header are none', () => {
  assert.equal(tokenOf({ token: 'abc' }), 'abc')
  assert.equal(tokenOf({ access_token: 'abc' }), 'abc')
  for (const answer of [{ token: 'a\r\nb' }, { token: 1 }, null, 'x', {}]) assert.equal(tokenOf(answer), undefined)
})
