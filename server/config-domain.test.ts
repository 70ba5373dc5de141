import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from './config.ts'

const read = (domain: string, more: Readonly<Record<string, string>> = {}) =>
  readConfig({ QUAYSIDE_DOMAIN: domain, ...more }).domain

const refused = (domain: string, end: string) => {
  const form = 'QUAYSIDE_DOMAIN must be a domain such as example.org, without a scheme, a port and a path'
  assert.throws(() => read(domain), { name: 'ConfigError', message: `${form}, not "${domain}"${end}` })
}

test('a domain is a name of DNS in any case, and localhost without the setting', () => {
  assert.equal(read(''), 'localhost')
  for (const domain of [
    'localhost',
    'lan',
    'example.org',
    'a-b.example.org',
    '127.0.0.1.nip.io',
    'xn--exmple-cua.org',
  ]) {
    assert.equal(read(domain), domain)
  }
  assert.equal(read('Apps.Example.ORG'), 'apps.example.org')
})

test('a text that is almost a domain is refused with the domain in it', () => {
  for (const domain of [
    'https://example.org',
    'https://example.org:8443/console?x#y',
    'example.org:443',
    'example.org/',
    '*.example.org',
    'example.org.',
    ' example.org',
  ]) {
    refused(domain, '. Is it "example.org"?')
  }
  refused('exämple.org', '. Is it "xn--exmple-cua.org"?')
})

test('a text without a domain is refused, also with other settings of addresses', () => {
  for (const domain of ['203.0.113.5', '2001:db8::1', '[2001:db8::1]', '.', 'a..b', '-a.org', 'a b.org', 'a_b.org']) {
    refused(domain, '.')
  }
  refused(`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.org`, '.')
  for (const more of [
    { QUAYSIDE_ROUTER_PORT: '8080' },
    { QUAYSIDE_ACME_DNS_KEY_FILE: '/k' },
    { QUAYSIDE_PUBLIC_URL: 'x' },
  ]) {
    assert.throws(() => read('http://example.org', more), /^ConfigError: QUAYSIDE_DOMAIN must be/)
  }
})
