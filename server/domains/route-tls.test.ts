import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TlsRow, tlsMember } from './route-tls.ts'

const row: TlsRow = {
  has_domain: true,
  has_own_tls: false,
  tls_secret: null,
  tls_issuer: null,
  tls_by_controller: false,
  generate_certificate: null,
  has_upload: false,
}
const of = (more: Partial<TlsRow>, wishes: Record<string, unknown> = {}) =>
  tlsMember({ ...row, ...more, kind: 'application', wishes }).tls

test('a name of the cluster has the Secret, or else the certificate of the controller, or else one of the issuer', () => {
  assert.equal(of({}), undefined)
  const all = { tls_secret: 'wild', tls_issuer: 'acme', tls_by_controller: true }
  assert.deepEqual(of(all)?.from, { secret: 'wild' })
  assert.deepEqual(of({ ...all, tls_secret: null })?.from, 'controller')
  assert.deepEqual(of({ tls_issuer: 'acme' })?.from, { issuer: 'acme' })
  assert.equal(of({ ...all, has_domain: false }), undefined)
})

test('a custom domain has a certificate of the issuer if its user wants one, and never that of the cluster', () => {
  const all = { tls_secret: 'wild', tls_issuer: 'acme', tls_by_controller: true }
  assert.deepEqual(of({ ...all, generate_certificate: true })?.from, { issuer: 'acme' })
  assert.equal(of({ ...all, generate_certificate: false }), undefined)
  assert.equal(of({ ...all, tls_issuer: null, generate_certificate: true }), undefined)
})

test('plain HTTP is redirected unless the service says otherwise', () => {
  assert.equal(of({ tls_secret: 'wild' })?.redirects, true)
  assert.equal(of({ tls_secret: 'wild' }, { 'network.ingress.force_ssl_redirect': false })?.redirects, false)
})

test('a cluster whose routers are the platform has its certificates, unless something in front has them', () => {
  const own = { has_own_tls: true, tls_secret: 'wild', tls_issuer: 'acme' }
  assert.equal(of(own)?.from, 'platform')
  assert.equal(of({ ...own, generate_certificate: true })?.from, 'platform')
  assert.equal(of({ ...own, generate_certificate: false }), undefined)
  assert.equal(of({ ...own, generate_certificate: false, has_upload: true })?.from, 'platform')
  assert.equal(of({ ...own, tls_by_controller: true })?.from, 'controller')
  assert.equal(of({ ...own, tls_by_controller: true, generate_certificate: true })?.from, 'platform')
})
