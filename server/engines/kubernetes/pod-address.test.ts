import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podAddress } from './pod-address.ts'

test('an address of a pod is one that a pod can have', () => {
  for (const address of ['10.244.0.7', '192.168.1.2', '203.0.113.9', 'fd12::7', '2001:db8::1']) {
    assert.equal(podAddress(address), address)
  }
})

test('an address of this machine, of a cloud or of nobody is not one of a pod', () => {
  const addresses = [
    '127.0.0.1',
    '127.8.9.10',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%lo',
    'ff02::1',
    'fd00:ec2::254',
    'localhost',
    '10.244.0.7:80',
    '2130706433',
    '0x7f.1',
    '',
    null,
    7,
    {},
  ]
  for (const address of addresses) assert.equal(podAddress(address), undefined, String(address))
})
