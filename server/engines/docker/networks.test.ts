import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { parentDirectories } from './files.ts'
import { bridgeName, ensureNetwork, networkSpec, spareSubnets } from './networks.ts'
import { pretend } from './test-daemon.ts'

describe('the network of an environment', () => {
  it('is its own bridge without IPv6, under a name that the kernel accepts', () => {
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

  it('is created once for concurrent callers; after a failure the waiting callers try themselves', async () => {
    const environment = newId()
    const answers = [
      { status: 201, text: '{"Id":"made"}' },
      { status: 500, text: '{"message":"no"}' },
      { status: 201, text: '{"Id":"other"}' },
    ]
    const none = { status: 200, text: '[]' }
    let asked = 0
    await pretend(
      (request, response) => {
        const { status, text } = request.method === 'POST' ? (answers[asked++] ?? none) : none
        response.writeHead(status).end(text)
      },
      async (daemon) => {
        const owner = { daemon, clock, instance: 'here', networksToCome: new Map<string, Promise<string>>() }
        const ensure = () => ensureNetwork(owner, environment, AbortSignal.timeout(60_000))
        assert.deepEqual(await Promise.all([ensure(), ensure(), ensure()]), ['made', 'made', 'made'])
        assert.equal(asked, 1)
        const [first, second] = await Promise.allSettled([ensure(), ensure()])
        assert.deepEqual([first.status, second], ['rejected', { status: 'fulfilled', value: 'other' }])
        assert.equal(owner.networksToCome.size, 0)
      },
    )
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
  it('are all of their parents except the root, outer ones first', () => {
    const files = ['/a/b/c.txt', '/a/d.txt', '/e.txt'].map((path) => ({ path, content: '' }))
    assert.deepEqual(parentDirectories(files), ['/a', '/a/b'])
  })
})
