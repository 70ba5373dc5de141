import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientGroup, forwardedChain, networkList, plainAddress } from './forwarded.ts'

const trusts = networkList(['10.0.0.0/8', 'fd00::/8', '192.0.2.7'])
const client = (peer: string, forwardedFor?: string) => forwardedChain(peer, forwardedFor, trusts)

test('forwardedChain ignores the headers of an untrusted peer', () => {
  assert.deepEqual(client('203.0.113.1', '10.0.0.1'), ['203.0.113.1'])
  assert.deepEqual(client('::ffff:203.0.113.1', '8.8.8.8, 10.0.0.1'), ['203.0.113.1'])
  assert.deepEqual(client('203.0.113.1'), ['203.0.113.1'])
})

test('forwardedChain stops at the first untrusted address from the end', () => {
  assert.deepEqual(client('10.0.0.1', '203.0.113.9'), ['203.0.113.9', '10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '1.1.1.1, 203.0.113.9'), ['203.0.113.9', '10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '203.0.113.9, 10.2.2.2'), ['203.0.113.9', '10.2.2.2', '10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '10.3.3.3,10.2.2.2'), ['10.3.3.3', '10.2.2.2', '10.0.0.1'])
  assert.deepEqual(client('::ffff:10.0.0.1', '2001:DB8::1, fd00::2'), ['2001:db8::1', 'fd00::2', '10.0.0.1'])
})

test('forwardedChain reads entries with ports and stops at an invalid address', () => {
  assert.deepEqual(client('10.0.0.1', '203.0.113.9:4711'), ['203.0.113.9', '10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '[2001:db8::1]:4711'), ['2001:db8::1', '10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '203.0.113.9, unknown'), ['10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '203.0.113.9, '), ['10.0.0.1'])
  assert.deepEqual(client('10.0.0.1', '203.0.113.9, ::ffff:10.2.2.2'), ['203.0.113.9', '10.2.2.2', '10.0.0.1'])
})

test('forwardedChain follows a limited number of proxies in linear time', () => {
  assert.equal(client('10.0.0.1', Array(100_000).fill('10.0.0.2').join(',')).length, 20)
})

test('networkList accepts addresses and CIDRs and names an invalid one', () => {
  assert.ok(trusts('192.0.2.7') && trusts('10.255.0.1') && trusts('fd12::1'))
  assert.ok(!trusts('192.0.2.8') && !trusts('11.0.0.1') && !trusts('fe80::1') && !trusts('nonsense'))
  for (const bad of [
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0',
    'host',
    '10.0.0.0/-1',
    '10.0.0.0/1e1',
  ]) {
    assert.throws(() => networkList([bad]), { message: `"${bad}" is not an address or a CIDR such as 10.1.0.0/16` })
  }
  assert.equal(networkList([])('10.0.0.1'), false)
})

test('plainAddress returns one form for every spelling of an address', () => {
  assert.equal(plainAddress('::FFFF:10.0.0.1'), '10.0.0.1')
  assert.equal(plainAddress('fe80::1%eth0'), 'fe80::1')
  assert.equal(plainAddress('10.0.0.01'), undefined)
})

test('clientGroup returns the same group for all addresses of a subscriber', () => {
  const groups: Record<string, string> = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:0DB8:0000:0000:ffff:1:2:3': '2001:db8:0:0::/64',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8:1:2::': '2001:db8:1:2::/64',
    '::1': '0:0:0:0::/64',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '': '',
  }
  for (const [address, group] of Object.entries(groups)) assert.equal(clientGroup(address), group, address)
})

test('a network contains addresses of its own family only', () => {
  const everyV6 = networkList(['::/0'])
  assert.deepEqual([everyV6('2001:db8::1'), everyV6('10.0.0.1')], [true, false])
  const everyV4 = networkList(['0.0.0.0/0'])
  assert.deepEqual([everyV4('10.0.0.1'), everyV4('2001:db8::1')], [true, false])
  assert.equal(networkList(['::/1'])('10.0.0.1'), false)
})

test('a network of mapped addresses is the network of IPv4 that it stands for', () => {
  for (const network of ['::ffff:10.1.0.0/112', '::FFFF:a01:0/112', '0:0:0:0:0:ffff:10.1.0.0/112']) {
    const contains = networkList([network])
    assert.deepEqual([contains('10.1.2.3'), contains('10.2.2.3')], [true, false], network)
  }
  assert.equal(networkList(['::ffff:0:0/96'])('10.1.2.3'), true)
})

test('a mapped address is read as IPv4 in each spelling', () => {
  for (const address of ['::ffff:10.1.2.3', '::FFFF:a01:203', '0:0:0:0:0:ffff:a01:203', '0:0::ffff:10.1.2.3']) {
    assert.equal(plainAddress(address), '10.1.2.3', address)
    assert.equal(clientGroup(address), '10.1.2.3', address)
  }
  for (const address of ['::1', '::fffe:a01:203', '::ffff:0:a01:203', '::a01:203'])
    assert.equal(plainAddress(address), address)
})
