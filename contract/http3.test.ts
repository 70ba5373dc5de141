import assert from 'node:assert/strict'
import test from 'node:test'
import { speaksHttp3, whyNoHttp3 } from './http3.ts'

test('QUIC is found in the description of a build', () => {
  const of = (version: string, features: string): string =>
    `HAProxy version ${version} 2026/10/15\nFeature list : -51DEGREES ${features} +RT\n`
  const builds: readonly (readonly [string, string, boolean])[] = [
    ['3.2.26-1', '+QUIC', true],
    ['3.2.25', '+QUIC -QUIC_OPENSSL_COMPAT', true],
    ['3.10.0', '+QUIC', true],
    ['3.2.26-1', '-QUIC +QUIC_OPENSSL_COMPAT', false],
    ['3.2.9-1', '+QUIC', false],
    ['3.0.11-1+deb13u4', '+QUIC', false],
    ['2.6.12-1', '+QUIC', false],
  ]
  for (const [version, features, can] of builds) assert.equal(speaksHttp3(of(version, features)), can, version)
  assert.equal(speaksHttp3(''), false)
})

test('the first reason against HTTP/3 is named', () => {
  const build = 'HAProxy version 3.2.26\nFeature list : +QUIC\n'
  const good = { tlsPort: 443, proxies: [], build }
  assert.equal(whyNoHttp3(good), undefined)
  assert.equal(whyNoHttp3({ ...good, tlsPort: undefined }), 'the router has no port of HTTPS')
  assert.equal(whyNoHttp3({ ...good, proxies: ['192.0.2.0/24'] }), 'clients come through proxies')
  assert.equal(whyNoHttp3({ ...good, build: '' }), 'this HAProxy is older than 3.2.25 or has no QUIC')
})
