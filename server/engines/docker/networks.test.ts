import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../lib/id.ts'
import { parentDirectories } from './files.ts'
import { bridgeName, networkSpec, spareSubnets } from './networks.ts'

describe('the network of an environment', () => {
  it('is a bridge of its own without IPv6, under a name that the kernel takes', () => {
    const environment = newId()
    assert.deepEqual(networkSpec('here', environment, undefined), {
      Name: `quay-env-${environment}`,
      CheckDuplicate: true,
      Driver: 'bridge',
      EnableIPv6: false,
      Options: { 'com.docker.network.bridge.name': bridgeName(environment) },
      Labels: { 'quayside.instance': 'here', 'quayside.environment': environment },
    })
    assert.match(bridgeName(environment), /^qs-[0-9a-f]{12}$/)
  })
})

describe('spare subnets', () => {
  it('are many different ones inside 10.128.0.0/10, aligned, and begin elsewhere for another environment', () => {
    const subnets = spareSubnets('one')
    assert.equal(new Set(subnets).size, 64)
    for (const subnet of subnets) {
      const [a, b, , d] = (subnet.split('/')[0] ?? '').split('.').map(Number)
      assert.ok(a === 10 && Number(b) >= 128 && Number(b) < 192 && Number(d) % 64 === 0, subnet)
    }
    assert.notEqual(spareSubnets('two')[0], subnets[0])
    assert.deepEqual(spareSubnets('one'), subnets)
  })
})

describe('the directories of mounted files', () => {
  it('are every one above them but the top, outer ones first', () => {
    const files = ['/a/b/c.txt', '/a/d.txt', '/e.txt'].map((path) => ({ path, content: '' }))
    assert.deepEqual(parentDirectories(files), ['/a', '/a/b'])
  })
})
