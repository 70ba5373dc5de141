import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Agent, type Server, type ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { freshMs } from '@quayside/contract/sign-in.ts'
import { access, account, guard, listed, service } from '../../../router/sign-in-bed.ts'
import { until } from '../../../test/support/until.ts'
import { AppError } from '../../lib/error.ts'
import { application, ask } from '../own/testing.ts'
import { routerCases } from '../router.cases.ts'
import { podKinds } from './pod-kube.ts'
import { startedPodCluster, type TestPod } from './testing.ts'

const { signal } = new AbortController()
const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable'

routerCases('router in pods', async () => {
  const cluster = await startedPodCluster(2)
  const servers: Server[] = []
  const waiting: ServerResponse[] = []
  let holding = false
  let turn = 0
  // Clients reach any of the routers.
  const port = (): number => cluster.pods[turn++ % cluster.pods.length]?.port ?? 0
  return {
    router: cluster.first,
    application: async (name) => {
      const { server, endpoint } = await application((_, response) => {
        if (holding) waiting.push(response)
        else response.end(name)
      })
      servers.push(server)
      return endpoint
    },
    ask: async (host) => {
      const answers = [await ask(port(), host), await ask(port(), host)]
      const bodies = answers.map(({ status, body }) => (status === 200 ? body : undefined))
      assert.equal(bodies[0], bodies[1], 'both routers have the same table')
      return bodies[0]
    },
    open: async (host) => {
      holding = true
      const answer = ask(port(), host)
      const before = waiting.length
      await until('the request is open', () => waiting.length > before)
      holding = false
      return async () => {
        waiting[before]?.end('')
        await answer
      }
    },
    close: async () => {
      for (const server of servers) server.close().closeAllConnections()
      await cluster.close()
    },
  }
})

interface Life {
  after(work: () => Promise<void>): void
}

async function open(t: Life, count = 2) {
  const cluster = await startedPodCluster(count)
  t.after(() => cluster.close())
  return cluster
}

async function startApplication(t: Life, body = 'ok'): Promise<RouteEndpoint> {
  const { server, endpoint } = await application((_, response) => response.end(body))
  t.after(async () => void server.close().closeAllConnections())
  return endpoint
}

const route = (endpoints: readonly RouteEndpoint[], more: Partial<Route> = {}): Route => ({
  host: 'app.test',
  service: 'shop',
  name: 'shop',
  endpoints,
  ...more,
})
const bodyAt = async ({ port }: TestPod): Promise<string> => (await ask(port, 'app.test')).body

test('a router that starts gets the table before it gets requests', async (t) => {
  const cluster = await open(t, 1)
  await cluster.first.replaceAll([route([await startApplication(t)])], signal)
  const fresh = await cluster.addPod()
  assert.equal(await cluster.isReady(fresh), false)
  const stopped = new AbortController()
  const wakes = cluster.first.wakes(-1, 20_000, stopped.signal).catch(() => {})
  await until('the new router is ready', () => cluster.isReady(fresh))
  assert.equal(await bodyAt(fresh), 'ok')
  stopped.abort()
  await wakes
})

test('a router that starts while the platform is away has the last table', async (t) => {
  const cluster = await open(t, 1)
  await cluster.first.replaceAll([route([await startApplication(t)])], signal)
  const fresh = await cluster.addPod()
  assert.equal(await bodyAt(fresh), 'ok')
})

test('a router that starts while the platform is away has no older table than the last one', async (t) => {
  const cluster = await open(t, 1)
  const shop = route([await startApplication(t)])
  await cluster.first.replaceAll([shop], signal)
  // Random text does not become shorter than a Secret.
  const value = randomBytes(1_200_000).toString('base64')
  const large = route(shop.endpoints, { host: 'large.test', rules: { headers: { 'x-large': value } } })
  await cluster.first.replaceAll([large], signal)
  const fresh = await cluster.addPod()
  assert.equal((await ask(fresh.port, 'app.test')).status, 404)
  const findings = await cluster.first.listFindings(signal)
  assert.ok(findings.some(({ message }) => message.includes('too large for the Secrets')))
  await cluster.router().replaceAll([shop], signal)
  assert.equal(await bodyAt(await cluster.addPod()), 'ok')
})

test('each router admits the people of the last table, also one that starts while the platform is away', async (t) => {
  const cluster = await open(t, 1)
  const routes = [route([await startApplication(t)], { service, rules: guard })]
  const cookie = access({ host: 'app.test', issuedAtMs: Date.now() - freshMs })
  const status = async ({ port }: TestPod) => (await ask(port, 'app.test', new Agent(), { cookie })).status
  await cluster.first.replaceAll(routes, signal, listed({ other: 0 }))
  const [pod] = cluster.pods
  assert.ok(pod)
  assert.equal(await status(pod), 403)
  await cluster.first.replaceAll(routes, signal, listed({ [account]: 0, other: 0 }))
  assert.equal(await status(pod), 200)
  assert.equal(await status(await cluster.addPod()), 200)
})

test('another process of the platform continues with the version of the routers', async (t) => {
  const cluster = await open(t)
  const endpoint = await startApplication(t)
  for (let index = 0; index < 3; index++) await cluster.first.replaceAll([route([], { reason: `${index}` })], signal)
  const second = cluster.router()
  await second.replaceAll([route([endpoint])], signal)
  for (const pod of cluster.pods) assert.equal(await bodyAt(pod), 'ok')
  await cluster.first.replaceAll([route([])], signal)
  for (const pod of cluster.pods) assert.equal((await ask(pod.port, 'app.test')).status, 503)
})

test('a sleeping service is reported once by the router that holds requests, and they are answered', async (t) => {
  const cluster = await open(t)
  const { first, pods } = cluster
  await first.replaceAll([route([], { asleep: true, reason: 'it is asleep' })], signal)
  const quiet = await first.wakes(-1, 500, signal)
  assert.deepEqual(quiet.services, [])
  const news = first.wakes(quiet.sequence, 20_000, signal)
  const held = pods.map((pod) => ask(pod.port, 'app.test'))
  const woken = await news
  assert.deepEqual(woken.services, ['shop'])
  await first.replaceAll([route([await startApplication(t, 'awake')])], signal)
  assert.deepEqual(
    (await Promise.all(held)).map(({ body }) => body),
    ['awake', 'awake'],
  )
})

test('a router is not believed that requests wait for a service of no table', async (t) => {
  const cluster = await open(t, 1)
  const another = cluster.router()
  await another.replaceAll([route([], { service: 'foreign', asleep: true, reason: 'it is asleep' })], signal)
  const [pod] = cluster.pods
  assert.ok(pod)
  const held = ask(pod.port, 'app.test').catch(() => {})
  assert.deepEqual((await another.wakes(-1, 10_000, signal)).services, ['foreign'])
  assert.deepEqual((await cluster.first.wakes(-1, 500, signal)).services, [])
  await another.replaceAll([], signal)
  await held
})

test('the traffic of all routers is added', async (t) => {
  const { first, pods } = await open(t)
  await first.replaceAll([route([await startApplication(t)])], signal)
  for (const pod of pods) for (let index = 0; index < 3; index++) await bodyAt(pod)
  assert.deepEqual((await first.activity(signal)).get('shop'), { requests: 6, open: 0 })
})

test('a router that cannot be reached keeps none of the others from the new table', async (t) => {
  const { first, pods } = await open(t)
  const [cut, other] = pods
  assert.ok(cut && other)
  await first.replaceAll([route([await startApplication(t, 'one')])], signal)
  cut.isCut = true
  const endpoint = await startApplication(t, 'two')
  const moved = first.replaceAll([route([endpoint])], signal)
  const outcome = moved.then(() => 'applied', isUnavailable)
  await until('the other router has the table', async () => (await bodyAt(other)) === 'two')
  assert.equal(await outcome, true)
  await assert.rejects(first.activity(signal), isUnavailable)
  cut.isCut = false
  await first.replaceAll([route([endpoint])], signal)
  assert.equal(await bodyAt(cut), 'two')
})

test('a router that cannot be reached and leaves holds nothing back', async (t) => {
  const { first, pods } = await open(t)
  const [cut] = pods
  assert.ok(cut)
  cut.isCut = true
  cut.isLeaving = true
  await first.replaceAll([route([await startApplication(t)])], signal)
})

test('replicas have a name while a route leads to them, and routers get it', async (t) => {
  const cluster = await open(t, 1)
  const { first, pods } = cluster
  const endpoint = await startApplication(t)
  const names = async () =>
    (await cluster.kube.list(podKinds.service, { labels: {} }, signal)).items.map((object) => ({
      namespace: object.metadata.namespace,
      selector: Object(object).spec.selector,
    }))
  const at = (release: string) => route([endpoint], { replicas: { environment: 'space', release } })
  await first.replaceAll([at('one'), route([endpoint], { host: 'bare.test' })], signal)
  assert.deepEqual(await names(), [{ namespace: 'space', selector: { release: 'one' } }])
  await first.replaceAll([at('two')], signal)
  assert.deepEqual(await names(), [{ namespace: 'space', selector: { release: 'two' } }])
  const [pod] = pods
  assert.ok(pod)
  assert.equal(await bodyAt(pod), 'ok')
  await first.replaceAll([], signal)
  assert.deepEqual(await names(), [])
})

test('reports that the API server is away, and that no router runs', async (t) => {
  const cluster = await open(t, 1)
  cluster.isAway = true
  await assert.rejects(cluster.first.replaceAll([route([])], signal), isUnavailable)
  cluster.isAway = false
  await cluster.pods[0]?.kill()
  await assert.rejects(cluster.first.replaceAll([route([])], signal), /No router of the cluster runs/)
})

test('findings say that the own router carries the traffic, and where it is', async (t) => {
  const cluster = await open(t, 2)
  const findings = await cluster.first.listFindings(signal)
  assert.match(findings[0]?.message ?? '', /router of the platform, in pods of the namespace quayside-router-test/)
  assert.ok(findings.every(({ isBlocking }) => !isBlocking))
})

test('a router in pods says that it has no certificates, and carries the hosts by plain HTTP', async (t) => {
  const cluster = await open(t)
  const tls = { from: { issuer: 'ca' }, redirects: true } as const
  await cluster.first.replaceAll([route([await startApplication(t)], { tls })], signal)
  assert.equal((await ask(cluster.pods[0]?.port ?? 0, 'app.test')).status, 200)
  const [found] = await cluster.first.certificates()
  assert.deepEqual([found?.host, found?.certificate.state], ['app.test', 'FAILED'])
  assert.match(String(found?.certificate.message), /router in the cluster speaks HTTP; end TLS in front of it/)
  const wanted = { domain: 'far.test', secret: null, issuer: 'ca', byController: false }
  const messages = async (given?: typeof wanted) =>
    (await cluster.first.listFindings(signal, given)).map(({ message }) => message)
  assert.match((await messages(wanted)).join(), /Names of far\.test have no certificates/)
  assert.doesNotMatch((await messages()).join(), /certificates/)
})

test('the counts of a new version are those of all routers, and none is left out', async (t) => {
  const cluster = await open(t)
  const [previous, next] = [await startApplication(t, 'previous'), await startApplication(t, 'next')]
  const canary = { release: 'next', percent: 50, endpoints: [next] }
  await cluster.first.replaceAll([route([previous], { canary })], signal)
  for (const { port } of cluster.pods) for (let round = 0; round < 10; round++) await ask(port, 'app.test')
  const counts = await cluster.first.canaryCounts(signal)
  assert.equal(new Set(counts.map(({ source }) => source)).size, 2)
  assert.deepEqual(
    counts.map(({ service: of, release, requests, failed, slow }) => [of, release, requests, failed, slow]),
    [
      ['shop', 'next', 5, 0, 0],
      ['shop', 'next', 5, 0, 0],
    ],
  )
  const [lost] = cluster.pods
  if (lost) lost.isCut = true
  await assert.rejects(cluster.first.canaryCounts(signal), isUnavailable)
})
