import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { selfSigned } from '../../../../test/support/self-signed.ts'
import { endedCredential } from './credential-end.ts'

const tokenOf = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
const now = new Date('2026-06-01T00:00:00Z')

test('a token that has expired is named with its time', () => {
  const token = tokenOf({ exp: Date.parse('2026-05-31T23:59:59Z') / 1000 })
  assert.equal(endedCredential({ token }, now), 'its token expired at 2026-05-31T23:59:59.000Z')
})

test('a token that is valid, has no end or is none explains nothing', () => {
  const others = [tokenOf({ exp: 4_000_000_000 }), tokenOf({}), tokenOf({ exp: 'soon' }), tokenOf({ exp: 1e300 })]
  for (const token of [...others, 'e30', '..', '', 'e30.bnVsbA.x']) {
    assert.equal(endedCredential({ token }, now), undefined, token)
  }
})

test('a client certificate that has expired is named, and nothing else of it', () => {
  const { cert: certificate } = selfSigned
  const end = new X509Certificate(certificate).validToDate
  assert.equal(endedCredential({ certificate }, new Date(end.getTime() - 1)), undefined)
  const said = endedCredential({ certificate }, new Date(end.getTime() + 1000))
  assert.equal(said, `its client certificate expired at ${end.toISOString()}`)
  assert.equal(endedCredential({ certificate: 'no certificate' }, now), undefined)
})
