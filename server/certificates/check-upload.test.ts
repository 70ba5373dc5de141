import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import { edwards, heavy, issued, weak } from '../../test/support/issued.ts'
import { expired, selfSigned, wildcard } from '../../test/support/self-signed.ts'
import { unfit, unfitKey } from '../../test/support/unfit.ts'
import { AppError } from '../lib/error.ts'
import { checkUpload } from './check-upload.ts'

const now = new Date('2027-01-01T00:00:00Z')
const chain = issued.cert + issued.intermediate
const good = { chain, private_key: issued.key }

/** Returns the message with which an upload for a host is refused. */
function refusal(
  upload: { readonly chain?: string; readonly private_key?: string },
  host = 'shop.example.org',
  at = now,
) {
  try {
    checkUpload({ ...good, ...upload }, host, at)
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'invalid', String(error))
    return error.message
  }
  return 'accepted'
}

test('a chain with its key is accepted, with or without the root, for each of its names', () => {
  for (const host of ['shop.example.org', '*.shops.example.org', 'one.shops.example.org', 'own.lab.test']) {
    const { issuer, not_after, fingerprint, key } = checkUpload(good, host, now)
    assert.equal(issuer, 'Test intermediate')
    assert.ok(not_after > now)
    assert.match(fingerprint, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
    assert.equal(createPrivateKey(key).asymmetricKeyType, 'rsa')
  }
  assert.equal(refusal({ chain: chain + issued.root }), 'accepted')
  assert.equal(refusal({ chain: `Subject: shop\n${chain}\n# the end` }), 'accepted')
  assert.equal(refusal({ chain: wildcard.cert, private_key: wildcard.key }, '*.apps.far.test'), 'accepted')
})

test('a certificate that does not cover the name is refused with the names that it covers', () => {
  assert.match(refusal({}, 'other.example.org'), /^chain: .*for shop\.example\.org, .*, not for other\.example\.org\.$/)
  assert.match(refusal({}, '*.example.org'), /not for \*\.example\.org/)
  assert.match(refusal({}, 'a.b.shops.example.org'), /not for/)
})

test('the key of another certificate is refused', () => {
  assert.match(refusal({ private_key: selfSigned.key }), /^private_key: .* not the key of the first certificate/)
})

test('a chain out of order, or with a stranger, is refused and names both certificates', () => {
  assert.match(refusal({ chain: issued.intermediate + issued.cert }), /not the key of the first certificate/)
  assert.match(
    refusal({ chain: issued.cert + issued.root }),
    /not in order: "shop\.example\.org" was not issued by "Test root"/,
  )
  assert.match(refusal({ chain: issued.cert + selfSigned.cert }), /not in order/)
})

test('an expired certificate and one that is not valid yet are refused', () => {
  const old = { chain: expired.cert, private_key: expired.key }
  assert.match(refusal(old, 'expired.example'), /expired certificate: .* ended at 20/)
  assert.match(refusal({}, 'shop.example.org', new Date('2019-01-01')), /not valid yet/)
})

test('keys other than RSA from 2048 to 4096 bits, P-256 and P-384 are refused', () => {
  assert.match(refusal({ chain: weak.cert, private_key: weak.key }, 'weak.test'), /RSA with 2048 to 4096 bits/)
  assert.match(refusal({ chain: heavy.cert, private_key: heavy.key }, 'heavy.test'), /RSA with 2048 to 4096 bits/)
  assert.match(refusal({ chain: edwards.cert, private_key: edwards.key }, 'ed.test'), /RSA with 2048 to 4096 bits/)
})

test('a certificate that clients refuse is refused with the reason and the remedy', () => {
  const why = (chain: string) => refusal({ chain, private_key: unfitKey })
  assert.equal(why(unfit.fit), 'accepted')
  assert.match(why(unfit.client), /^chain: .*"client" is not for servers\. .*serverAuth\.$/)
  assert.match(why(unfit.agreement), /"agreement" does not allow its key to sign\. .*digitalSignature\.$/)
  assert.match(why(unfit.authority), /"authority" is the certificate of an authority\. /)
  assert.match(why(unfit.sha1), /"sha1" is signed with ecdsa-with-SHA1\. .*SHA-256/)
  assert.match(why(unfit.small), /"Small root" has a key of less than 2048 bits\./)
})

test('texts that are not PEM are refused and do not appear in the message', () => {
  assert.match(refusal({ chain: 'hello' }), /has no certificate/)
  assert.match(refusal({ chain: issued.cert.slice(0, 400) }), /cannot be read, number 1/)
  assert.match(refusal({ chain: issued.cert.repeat(11) }), /more than 10/)
  assert.doesNotMatch(refusal({ private_key: 'hunter2' }), /hunter2/)
  const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nabc\n-----END ENCRYPTED PRIVATE KEY-----\n'
  assert.match(refusal({ private_key: locked }), /passphrase/)
})
