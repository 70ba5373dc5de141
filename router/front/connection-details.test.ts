import assert from 'node:assert/strict'
import test from 'node:test'
import { readProxyHeader } from '../proxy-header.ts'
import { readDetails } from './connection-details.ts'

const detailsIn = (hex: string) => {
  const header = readProxyHeader(Buffer.from(`0d0a0d0a000d0a515549540a${hex}`, 'hex'))
  assert.ok(typeof header === 'object')
  return readDetails(header.details ?? Buffer.alloc(0))
}
// 127.0.0.1:59112 to 127.0.0.1:5103, as HAProxy writes it.
const v4 = '7f0000017f000001e6e813ef'

test('a header has the server name and the encryption of its connection', () => {
  assert.deepEqual(detailsIn(`21110019${v4}020002612e${'200005'}0100000000`), { isSecure: true, serverName: 'a.' })
})

test('a header without details is of a plain connection', () => {
  assert.deepEqual(detailsIn(`2111000c${v4}`), { isSecure: false, serverName: '' })
})

test('a detail that is cut counts as far as it goes', () => {
  assert.deepEqual(detailsIn(`21110011${v4}020009612e`), { isSecure: false, serverName: 'a.' })
  assert.deepEqual(detailsIn(`2111000e${v4}0200`), { isSecure: false, serverName: '' })
})
