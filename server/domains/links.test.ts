import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, publicAddressOf, urlOf } from './links.ts'
import type { RouteRow } from './route-store.ts'

test('an address names its port only where it is not the usual one', () => {
  assert.equal(urlOf('a.localhost', { scheme: 'http', port: 8080 }), 'http://a.localhost:8080')
  assert.equal(urlOf('a.localhost', { scheme: 'http', port: 80 }), 'http://a.localhost')
  assert.equal(urlOf('a.example', { scheme: 'https', port: 443 }), 'https://a.example')
  assert.equal(urlOf('a.example', { scheme: 'https', port: 80 }), 'https://a.example:80')
})

const listening = { routerPort: 8080, routerTls: { port: 8443 } }
const state = (certified: boolean): RouteRow['certificate'] => (certified ? { state: 'READY', message: null } : null)

/** Returns the URL of a host of the router with these public ports. */
function urlAt(
  publicRouterPorts: { port?: number; tlsPort?: number },
  { tls = true, certified = false, isSecure = false, controller = false } = {},
): string {
  const own = publicAddressOf({ ...listening, ...(!tls && { routerTls: undefined }), publicRouterPorts })
  const route = { certificate: state(certified), has_controller: controller }
  return urlOf('a.test', addressOf(route, own, isSecure))
}

test('a host is reached at the ports on which the router listens, unless clients use others', () => {
  assert.equal(urlAt({}), 'http://a.test:8080')
  assert.equal(urlAt({}, { certified: true }), 'https://a.test:8443')
  assert.equal(urlAt({ port: 80 }), 'http://a.test')
  assert.equal(urlAt({ port: 80 }, { certified: true }), 'https://a.test:8443')
  assert.equal(urlAt({ port: 80, tlsPort: 443 }, { certified: true }), 'https://a.test')
  assert.equal(urlAt({ port: 9000, tlsPort: 9443 }), 'http://a.test:9000')
})

test('a public port of HTTPS without HTTPS of the router is one of a proxy that ends it for all hosts', () => {
  assert.equal(urlAt({ tlsPort: 443 }, { tls: false }), 'https://a.test')
  assert.equal(urlAt({ port: 80, tlsPort: 9443 }, { tls: false }), 'https://a.test:9443')
  assert.equal(urlAt({ tlsPort: 9443 }, { tls: false, isSecure: true }), 'https://a.test:9443')
})

test('a client with HTTPS keeps it at a host without a certificate of the router', () => {
  assert.equal(urlAt({}, { isSecure: true }), 'https://a.test')
  assert.equal(urlAt({ tlsPort: 9443 }, { isSecure: true }), 'https://a.test:9443')
})

test('a host of an ingress controller is reached at the usual ports', () => {
  const ports = { port: 9000, tlsPort: 9443 }
  assert.equal(urlAt(ports, { controller: true }), 'http://a.test')
  assert.equal(urlAt(ports, { controller: true, certified: true }), 'https://a.test')
})
