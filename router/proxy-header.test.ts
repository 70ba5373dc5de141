import assert from 'node:assert/strict'
import test from 'node:test'
import { proxyHeaderOf } from '../test/support/proxy-header.ts'
import { readProxyHeader } from './proxy-header.ts'

const text = (line: string) => readProxyHeader(Buffer.from(line, 'latin1'))

test('a header of version 1 names its client', () => {
  const four = 'PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\r\n'
  assert.deepEqual(text(`${four}GET /`), { client: '192.0.2.1', bytes: four.length })
  const six = 'PROXY TCP6 2001:DB8::1 ::1 5000 443\r\n'
  assert.deepEqual(text(six), { client: '2001:db8::1', bytes: six.length })
  assert.deepEqual(text('PROXY UNKNOWN\r\n'), { client: undefined, bytes: 15 })
  assert.deepEqual(text('PROXY UNKNOWN ffff::1 ffff::2 1 2\r\nx'), { client: undefined, bytes: 35 })
})

test('a header of version 2 names its client', () => {
  for (const client of ['192.0.2.1', '2001:db8::1']) {
    const header = proxyHeaderOf(client)
    assert.deepEqual(readProxyHeader(Buffer.concat([header, Buffer.from('more')])), { client, bytes: header.length })
  }
  assert.deepEqual(readProxyHeader(proxyHeaderOf('::ffff:192.0.2.1')), { client: '192.0.2.1', bytes: 52 })
  const check = proxyHeaderOf('192.0.2.1', { command: 0x20 })
  assert.deepEqual(readProxyHeader(check), { client: undefined, bytes: check.length })
  const unix = proxyHeaderOf('192.0.2.1', { family: 0x31 })
  assert.deepEqual(readProxyHeader(unix), { client: undefined, bytes: unix.length })
})

test('a header that is cut anywhere needs more bytes', () => {
  for (const whole of [Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\r\n'), proxyHeaderOf('2001:db8::1')]) {
    for (let end = 0; end < whole.length; end++) assert.equal(readProxyHeader(whole.subarray(0, end)), 'more')
    assert.notEqual(readProxyHeader(whole), 'more')
  }
})

test('anything else is invalid', () => {
  for (const line of [
    'GET / HTTP/1.1\r\n',
    'proxy TCP4 192.0.2.1 198.51.100.1 5000 443\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 5000\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 5000 443 x\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.1 5000 99999\r\n',
    'PROXY TCP4 2001:db8::1 ::1 5000 443\r\n',
    'PROXY TCP4 192.0.2.1  198.51.100.1 5000 443\r\n',
    'PROXY TCP4 192.0.2.1\n198.51.100.1 5000 443\r\n',
    'PROXY TCP5 192.0.2.1 198.51.100.1 5000 443\r\n',
    'PROXY \r\n',
    `PROXY ${'x'.repeat(101)}`,
  ]) {
    assert.equal(text(line), 'invalid', line)
  }
  assert.equal(readProxyHeader(proxyHeaderOf('192.0.2.1', { command: 0x11 })), 'invalid')
  assert.equal(readProxyHeader(proxyHeaderOf('192.0.2.1', { command: 0x22 })), 'invalid')
  assert.equal(readProxyHeader(proxyHeaderOf('192.0.2.1', { family: 0x21 })), 'invalid')
  assert.equal(readProxyHeader(proxyHeaderOf('192.0.2.1', { length: 60_000 })), 'invalid')
})
