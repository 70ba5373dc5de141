import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import type { TestApplication } from '../support/application.ts'
import { type SecureClient, secureClient } from '../support/https.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { openPodRouterPlace, type PodRouterPlace, routerPorts } from './support/pod-router-place.ts'
import { serialAt } from './support/secure-traffic.ts'

// Routers in pods that all start while the platform is away, with private keys in Secrets of the
// cluster. The tests build on each other.

let place: PodRouterPlace
let application: TestApplication
let client: SecureClient
let name: string
let root: string
const seen = () => place.server.output.slice(-15)
const ask = () =>
  client.ask(name, { host: addresses.node, timeout: 10_000 }).then(
    ({ status, body }) => (status === 200 ? body : String(status)),
    (error: unknown) => String(error),
  )
const secrets = async () => {
  const { items } = await place.kube.list(kinds.secret, { namespace: place.namespace }, AbortSignal.timeout(20_000))
  return items.map(({ metadata }) => metadata.name)
}

before(
  async () => {
    const env = { QUAYSIDE_ACME_DIRECTORY: 'local', QUAYSIDE_CLUSTER_ROUTER_KEYS: 'secrets' }
    place = await openPodRouterPlace({ folder: 'pod-away', domain: 'far.home.arpa', env })
    application = await place.application('web')
    name = new URL(application.url).hostname
    await application.run(web('first'))
    const file = join(place.server.dataDirectory, 'authority.pem')
    await until('the root is published', () => readFile(file).catch(() => undefined), { limitMs: 60_000, seen })
    root = await readFile(file, 'utf8')
    client = secureClient({ port: routerPorts.tls, root })
    await until('it answers over HTTPS', async () => (await ask()) === 'first', { limitMs: 60_000, seen })
  },
  { timeout: 400_000 },
)
after(async () => {
  client?.close()
  await application?.git.remove()
  await place?.close()
})

/** Deletes all routers at once. Returns once others get requests. */
async function replaceAll(): Promise<void> {
  const former = await place.readyPods()
  await Promise.all(former.map((pod) => place.removePod(pod.name, { graceSeconds: 0 })))
  const areReplaced = async () => {
    const pods = await place.readyPods()
    return pods.length === 2 && pods.every((pod) => former.every((one) => one.name !== pod.name))
  }
  await until('all routers are replaced', areReplaced, { limitMs: 120_000 })
}

test('HTTPS answers again after all routers were deleted while the platform is away', {
  timeout: 180_000,
}, async (t) => {
  const serial = await serialAt(addresses.node, routerPorts.tls, root, name)
  await place.server.kill9()
  const startedAt = performance.now()
  await replaceAll()
  await until('it answers over HTTPS', async () => (await ask()) === 'first', { limitMs: 60_000 })
  t.diagnostic(`HTTPS answered after ${Math.round(performance.now() - startedAt)} ms`)
  for (const { address } of await place.readyPods()) assert.equal(await serialAt(address, 8443, root, name), serial)
})

test('the platform that returns continues with these routers', { timeout: 120_000 }, async () => {
  const pods = await place.readyPods()
  await place.server.restart({ env: place.env })
  await application.run(web('second'))
  await until('the new version answers', async () => (await ask()) === 'second', { limitMs: 60_000, seen })
  assert.deepEqual(await place.readyPods(), pods)
  const { lines } = await place.cluster.deploy()
  assert.match(lines, /Private keys of its certificates are in Secrets of the namespace quayside-router-/)
})

test('without the setting the private keys leave the cluster, and no request fails meanwhile', {
  timeout: 240_000,
}, async () => {
  assert.ok((await secrets()).includes('router-certificates'))
  await place.server.restart({ env: { ...place.env, QUAYSIDE_CLUSTER_ROUTER_KEYS: 'memory' } })
  const failed: string[] = []
  const isGone = async () => {
    const answer = await ask()
    if (answer !== 'second') failed.push(answer)
    return !(await secrets()).some((one) => one.startsWith('router-certificates'))
  }
  await until('the Secrets are gone', isGone, { limitMs: 180_000, seen })
  assert.deepEqual(failed, [])
  const last = (await place.cluster.deploy()).lines.split('was requested').at(-1) ?? ''
  assert.match(last, /goes through the router of the platform/)
  assert.doesNotMatch(last, /Private keys/)
})
