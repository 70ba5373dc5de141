import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressError, createAddressGuard } from './address.ts'
import { checkTarget, targetProblem } from './target.ts'

const signal = new AbortController().signal
const publicAddress = '93.184.216.34'

function guardWith(answers: Record<string, readonly string[]> = {}, allowedPrivateCidrs: readonly string[] = []) {
  const asked: string[] = []
  const guard = createAddressGuard({
    allowedPrivateCidrs,
    ownAddresses: () => ['203.0.114.7'],
    resolve: async (hostname) => {
      asked.push(hostname)
      return answers[hostname] ?? []
    },
  })
  return { guard, asked }
}

const refusedLiterals = [
  '127.0.0.1',
  '0.0.0.0',
  '0',
  '2130706433',
  '0x7f.1',
  '017700000001',
  '127.1',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  '[::1]',
  '::1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::]',
  '169.254.169.254',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.255',
  '168.63.129.16',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.19.255.255',
  '224.0.0.1',
  '239.1.1.1',
  '240.0.0.1',
  '255.255.255.255',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:1::1]',
  '[fe80::1]',
  '[fe80::1%lo]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[::127.0.0.1]',
  '[3fff::1]',
  '[2001:db8::1]',
  '１２７.０.０.１',
  'ⓛocalhost',
  '127。0。0。1',
  '203.0.114.7',
  '',
  '.',
  'a b',
  '1.1.1.1 &@127.0.0.1',
  'x@127.0.0.1',
  'host:80',
  'host/path',
  'a\\b',
  '127.0.0.1#@1.1.1.1',
  '%31%32%37.0.0.1',
]

for (const host of refusedLiterals) {
  test(`check refuses ${JSON.stringify(host)} without asking the name service`, async () => {
    const { guard, asked } = guardWith()
    assert.equal(guard.literalIsAllowed(host), false)
    await assert.rejects(guard.check(host, signal), AddressError)
    assert.deepEqual(asked, [])
  })
}

for (const [host, address] of [
  ['93.184.216.34', '93.184.216.34'],
  ['[2606:2800:220:1::1]', '2606:2800:220:1::1'],
  ['[::ffff:93.184.216.34]', '93.184.216.34'],
  ['0x5db8d822', '93.184.216.34'],
] as const) {
  test(`check returns the canonical address of the public literal ${host}`, async () => {
    const { guard } = guardWith()
    assert.equal(guard.literalIsAllowed(host), true)
    assert.deepEqual(await guard.check(host, signal), [address])
  })
}

test('check refuses a name when any of its addresses is not public', async () => {
  const { guard } = guardWith({ 'mixed.example': [publicAddress, '127.0.0.1'], 'six.example': [publicAddress, '::1'] })
  assert.equal(guard.literalIsAllowed('mixed.example'), true)
  await assert.rejects(guard.check('mixed.example', signal), { name: 'AddressError', reason: 'refused' })
  await assert.rejects(guard.check('six.example', signal), { name: 'AddressError', reason: 'refused' })
})

test('check does not reveal the address of a name that it refuses', async () => {
  const { guard } = guardWith({ 'inside.example': ['10.9.8.7'] })
  await assert.rejects(guard.check('inside.example', signal), (error: Error) => !error.message.includes('10.9.8.7'))
})

test('check resolves a public name once, without its trailing dot, and returns every address', async () => {
  const { guard, asked } = guardWith({ 'git.example': [publicAddress, '2606:2800:220:1::1'] })
  assert.deepEqual(await guard.check('GIT.example.', signal), [publicAddress, '2606:2800:220:1::1'])
  assert.deepEqual(asked, ['git.example'])
})

test('check refuses a name without addresses', async () => {
  await assert.rejects(guardWith().guard.check('nothing.example', signal), AddressError)
})

test('private addresses are reached where the operator listed their network', async () => {
  const { guard } = guardWith({ 'git.inside': ['10.1.2.3'], 'db.inside': ['10.2.0.1'] }, ['10.1.0.0/16', '127.0.0.0/8'])
  assert.deepEqual(await guard.check('git.inside', signal), ['10.1.2.3'])
  await assert.rejects(guard.check('db.inside', signal), AddressError)
  assert.deepEqual(await guard.check('localhost', signal), ['127.0.0.1'])
  assert.equal(guard.literalIsAllowed('localhost'), true)
  assert.equal(guard.literalIsAllowed('[::1]'), false)
  assert.equal(guard.isAllowedPrivate('::ffff:10.1.0.1'), true)
  assert.equal(guard.isAllowedPrivate('10.2.0.1'), false)
})

test('createAddressGuard throws when a CIDR is invalid', () => {
  assert.throws(() => createAddressGuard({ allowedPrivateCidrs: ['10.0.0.0'] }), /"10.0.0.0" is not a CIDR/)
})

test('check stops waiting for the name service when the caller aborts', async () => {
  const guard = createAddressGuard({ allowedPrivateCidrs: [] })
  const aborted = AbortSignal.abort(new Error('no longer wanted'))
  await assert.rejects(guard.check('name.invalid', aborted), /no longer wanted/)
})

for (const [address, allowed] of [
  ['https://93.184.216.34/x', true],
  ['https://93.184.216.34:8443/x', true],
  ['https://93.184.216.34:22/x', false],
  ['https://93.184.216.34:6379/x', false],
  ['http://93.184.216.34/x', false],
  ['ftp://93.184.216.34/x', false],
  ['https://user@93.184.216.34/x', false],
  ['https://user:secret@93.184.216.34/x', false],
  ['http://10.1.0.1:3000/x', true],
  ['https://10.1.0.1:9200/x', true],
  ['https://10.2.0.1/x', false],
] as const) {
  test(`target ${address} is ${allowed ? 'reached' : 'refused'}`, async () => {
    const { guard } = guardWith({}, ['10.1.0.0/16'])
    const checked = checkTarget(guard, new URL(address), { signal })
    if (allowed) assert.equal((await checked).length, 1)
    else await assert.rejects(checked, AddressError)
  })
}

test('before the name is looked up, plain http is a problem only where no private network is listed', () => {
  const url = new URL('http://git.inside:3000/a.git')
  assert.match(targetProblem(guardWith().guard, url) ?? '', /https/)
  assert.equal(targetProblem(guardWith({}, ['10.0.0.0/8']).guard, url), undefined)
})
