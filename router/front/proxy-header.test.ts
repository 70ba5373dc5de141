import assert from 'node:assert/strict'
import test from 'node:test'
import { readProxyHeader } from './proxy-header.ts'

const signature = '0d0a0d0a000d0a515549540a'
const header = (rest: string): Buffer => Buffer.from(`${signature}${rest}`, 'hex')
// 127.0.0.1:59112 to 127.0.0.1:5103, as HAProxy writes it.
const v4 = '7f0000017f000001e6e813ef'

test('a header has the address of its client', () => {
  const bytes = header(`2111000c${v4}`)
  const facts = { address: '127.0.0.1', isSecure: false, serverName: '' }
  assert.deepEqual(readProxyHeader(bytes), { state: 'complete', facts, bytes: 28 })
  assert.deepEqual(readProxyHeader(Buffer.concat([bytes, Buffer.from('GET /')])), {
    state: 'complete',
    facts,
    bytes: 28,
  })
})

test('a header has the server name and the encryption of its connection', () => {
  const bytes = header(`21110019${v4}020002612e${'200005'}0100000000`)
  assert.deepEqual(readProxyHeader(bytes), {
    state: 'complete',
    facts: { address: '127.0.0.1', isSecure: true, serverName: 'a.' },
    bytes: 41,
  })
})

test('a header of IPv6 has the address in a form that the router reads', () => {
  const one = '20010db8000000000000000000000001'
  const facts = { address: '2001:db8:0:0:0:0:0:1', isSecure: false, serverName: '' }
  assert.deepEqual(readProxyHeader(header(`21210024${one}${one}00500051`)), { state: 'complete', facts, bytes: 52 })
})

test('a header is partial until all its bytes have arrived', () => {
  const bytes = header(`2111000c${v4}`)
  for (let length = 0; length < bytes.length; length++) {
    assert.deepEqual(readProxyHeader(bytes.subarray(0, length)), { state: 'partial' }, String(length))
  }
})

test('other beginnings are invalid', () => {
  const invalid = [
    Buffer.from('GET / HTTP/1.1\r\n'),
    Buffer.from('PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n'),
    header(`2011000c${v4}`),
    header('21000000'),
    header('2131000c000000000000000000000000'),
    header('2111ffff'),
    header('2111000800000000 00000000'.replace(' ', '')),
  ]
  for (const bytes of invalid) assert.deepEqual(readProxyHeader(bytes), { state: 'invalid' }, bytes.toString('hex'))
})
