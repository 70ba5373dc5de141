import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../config.ts'
import type { NetworkGuards } from '../engines/index.ts'
import type { Logger } from '../lib/log.ts'
import { createNetworkGuards, openPorts } from './network-guards.ts'

const { signal } = new AbortController()

/** Guards with an engine that returns these answers in order. */
function guarding(settings: Record<string, string>, answers: readonly (boolean | Error)[]) {
  const logged: string[] = []
  const asked: NetworkGuards[] = []
  const note =
    (level: string) =>
    ({ reason }: { readonly reason?: string }) =>
      void logged.push(`${level} ${reason ?? 'done'}`)
  // No other method of the logger is called.
  const log = { info: note('info'), warn: note('warn'), debug: note('debug') } as unknown as Logger
  const engine = {
    checkLiveness: async () => [],
    followRestarts: async () => [],
    guardNetworks: async (wanted: NetworkGuards) => {
      const answer = answers[asked.push(wanted) - 1] ?? false
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const guards = createNetworkGuards({ config: readConfig(settings), log }, { name: 'local', engine })
  return { guards, logged, asked }
}

test('network guards log a reason once, and again after a success', async () => {
  const [first, second] = [new Error('not as root'), new Error('no iptables')]
  const { guards, logged } = guarding({}, [first, first, second, true, false, second])
  for (let times = 0; times < 6; times++) await guards.reconcile(signal)
  assert.deepEqual(logged, ['warn not as root', 'warn no iptables', 'info done', 'warn no iptables'])
})

test('network guards open an open access once, and close a closed one each time', async () => {
  const { guards, asked } = guarding({ QUAYSIDE_CLOUD_METADATA: 'open', QUAYSIDE_HOST_ACCESS: 'closed' }, [true])
  for (let times = 0; times < 2; times++) await guards.reconcile(signal)
  assert.deepEqual(asked, [
    { metadata: 'open', host: [] },
    { metadata: undefined, host: [] },
  ])
  const other = guarding({ QUAYSIDE_HOST_ACCESS: 'open' }, [true])
  for (let times = 0; times < 2; times++) await other.guards.reconcile(signal)
  assert.deepEqual(other.asked, [
    { metadata: 'closed', host: 'open' },
    { metadata: 'closed', host: undefined },
  ])
})

test('containers reach the public ports of the platform and the ports that the operator opens', () => {
  const open = (settings: Record<string, string>) =>
    openPorts(readConfig(settings)).map(({ first, last, protocol }) => `${first}-${last}/${protocol}`)
  assert.deepEqual(open({}), [])
  assert.deepEqual(open({ QUAYSIDE_HOST: '0.0.0.0' }), ['3000-3000/tcp'])
  assert.deepEqual(open({ QUAYSIDE_PUBLIC_URL: 'https://quayside.example.org' }), ['443-443/tcp'])
  assert.deepEqual(open({ QUAYSIDE_HOST: '::', QUAYSIDE_PUBLIC_URL: 'http://quayside.example.org:3000' }), [
    '3000-3000/tcp',
  ])
  assert.deepEqual(open({ QUAYSIDE_ROUTER_HOST: '0.0.0.0' }), ['8080-8080/tcp', '30000-30999/tcp', '30000-30999/udp'])
  const secure = { QUAYSIDE_ROUTER_HOST: '0.0.0.0', QUAYSIDE_ROUTER_TLS_PORT: '8443' }
  assert.deepEqual(open(secure).slice(0, 2), ['8080-8080/tcp', '8443-8443/tcp'])
  assert.deepEqual(open({ QUAYSIDE_ROUTER_TLS_PORT: '8443' }), [])
  assert.deepEqual(open({ QUAYSIDE_HOST_ACCESS: '9100, 5000-5010/udp' }), ['9100-9100/tcp', '5000-5010/udp'])
})

test('invalid ports are rejected with the name of the setting', () => {
  for (const text of ['70000', '10-5', '80/sctp', '0', 'all', '80;443'])
    assert.throws(() => readConfig({ QUAYSIDE_HOST_ACCESS: text }), /^ConfigError: QUAYSIDE_HOST_ACCESS must be closed/)
  assert.equal(readConfig({ QUAYSIDE_HOST_ACCESS: 'open' }).hostAccess, 'open')
})
