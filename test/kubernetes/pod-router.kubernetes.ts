import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { kinds } from '../../server/engines/index.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { newId } from '../../server/lib/id.ts'
import { routerCases } from '../../server/routers/router.cases.ts'
import { startTraffic } from '../support/traffic.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { askPortOf, datagrams } from './support/ask-port-of.ts'
import { askNode, openPodRouterBench, type PodRouterBench } from './support/pod-router-bench.ts'
import { publishRouterImage } from './support/router-image.ts'

// Our router in pods of a real cluster.

const application = usePublishedImage()
let bench: StartedBench
before(async () => {
  bench = await started(await publishRouterImage('first'))
})
after(() => bench?.close())
const signal = AbortSignal.timeout(1_200_000)

/** Returns a program that answers its name once it has the whole request. */
const saying = (name: string): string => `
  require('http').createServer((request, response) => {
    response.writeHead(200)
    response.flushHeaders()
    request.resume().on('end', () => response.end(${JSON.stringify(name)}))
  }).listen(8080)`

type StartedBench = PodRouterBench & { readonly at: number }

/** A bench whose routers run and get requests. */
async function started(image: string): Promise<StartedBench> {
  const fresh = await openPodRouterBench({ router: image, application: application.reference() })
  let last: unknown
  const applied = () =>
    fresh.router.replaceAll([], signal).then(
      () => true,
      (error: unknown) => {
        last = String(error)
        return false
      },
    )
  await until('the routers run', applied, { limitMs: 90_000, seen: () => last })
  await fresh.router.renew(signal)
  const at = await fresh.port()
  const isOpen = () =>
    askNode(at, 'none.test').then(
      ({ status }) => status === 404,
      () => false,
    )
  await until('the port of the node leads to them', isOpen)
  return Object.assign(fresh, { at })
}

/** Opens a request whose body ends when the returned function is called. */
async function openRequest(at: number, host: string): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const options = { host: addresses.node, port: at, method: 'POST', headers: { host }, agent: false, signal } as const
  const sent = request(options, (answer) => {
    begun.resolve()
    answer.resume().on('end', ended.resolve)
  })
  sent.on('error', begun.reject)
  sent.write('begun')
  await begun.promise
  return () => {
    sent.end()
    return ended.promise
  }
}

routerCases('router in pods', async () => {
  await prepare()
  return {
    router: bench.router,
    application: (name) => bench.start(saying(name) + datagrams(name)),
    replicas: (endpoints) => bench.replicasOf(endpoints),
    askPort: (listen) => askPortOf(bench.router, listen, signal),
    ask: async (host) => {
      const { status, body } = await askNode(bench.at, host)
      return status === 200 ? body : undefined
    },
    open: (host) => openRequest(bench.at, host),
    close: () => bench.stopAll(),
  }
})

interface Life {
  after(work: () => Promise<unknown>): void
}

/** Waits until the routers of an earlier test are as at first. */
async function prepare(): Promise<void> {
  await until('two routers get requests', async () => (await bench.readyPods()).length === 2, { limitMs: 90_000 })
  await bench.router.replaceAll([], signal)
}

async function open(t: Life): Promise<void> {
  await prepare()
  t.after(() => bench.stopAll())
}

const host = 'shop.test'
const route = (endpoints: readonly RouteEndpoint[], more: Partial<Route> = {}): Route => ({
  host,
  service: 'shop',
  name: 'shop',
  endpoints,
  ...more,
})

const trafficOf = (t: Life, perSecond = 200) => {
  const traffic = startTraffic(`http://${host}:${bench.at}/`, perSecond, addresses.node)
  t.after(() => traffic.stop())
  return traffic
}

/** Does what a running server does all the time: new routers get the table. */
function attend(t: Life): void {
  const over = new AbortController()
  const attending = (async () => {
    while (!over.signal.aborted) await bench.router.wakes(-1, 20_000, over.signal).catch(() => {})
  })()
  t.after(async () => {
    over.abort()
    await attending
  })
}

test('no request is lost while traffic moves twenty times', async (t) => {
  await open(t)
  let current = await bench.start(saying('0'))
  await bench.router.replaceAll([route([current])], signal)
  const traffic = trafficOf(t)
  for (let move = 1; move <= 20; move++) {
    const next = await bench.start(saying(String(move)))
    await bench.router.replaceAll([route([next])], signal)
    assert.equal(await bench.router.drained([current], 10_000, signal), 0)
    await bench.stop(current)
    current = next
  }
  await traffic.sends(200)
  const { lost, sent, bodies } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
  assert.equal(bodies.size, 21)
})

test('no request is lost while routers are replaced by those of another image', async (t) => {
  await open(t)
  const second = await publishRouterImage('second')
  await bench.router.replaceAll([route([await bench.start(saying('ok'))])], signal)
  const former = new Set(await bench.readyPods())
  const traffic = trafficOf(t)
  await traffic.sends(200)
  const other = bench.another(second)
  await other.replaceAll([route([await bench.start(saying('ok'))])], signal)
  await until('the routers are replaced', () => other.renew(signal).then(() => true), { limitMs: 120_000 })
  await until('the former routers are gone', async () => (await bench.pods()).every((name) => !former.has(name)), {
    limitMs: 120_000,
  })
  await traffic.sends(200)
  const { lost, sent } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
  assert.equal((await bench.readyPods()).length, 2)
})

test('a killed router is replaced by one that has the table, and the other one answers meanwhile', async (t) => {
  await open(t)
  attend(t)
  await bench.router.replaceAll([route([await bench.start(saying('ok'))])], signal)
  const [killed = ''] = await bench.readyPods()
  const traffic = trafficOf(t, 100)
  await traffic.sends(100)
  await bench.kube.remove(kinds.pod, { namespace: bench.namespace, name: killed }, signal, { graceSeconds: 0 })
  await until('there are two again', async () => {
    const names = await bench.readyPods()
    return names.length === 2 && !names.includes(killed)
  })
  await traffic.sends(500)
  const { lost, sent } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost: ${[...new Set(lost)].join('; ')}`)
  // Those on the connections of a killed program cannot be saved.
  assert.ok(lost.length < 25, `${lost.length} lost`)
  assert.ok(
    lost.every((text) => /ECONNRESET|ECONNREFUSED|socket hang up/.test(text)),
    lost.join('\n'),
  )
})

test('routers that start while the platform is away have the last table', async (t) => {
  await open(t)
  await bench.router.replaceAll([route([await bench.start(saying('ok'))])], signal)
  const former = await bench.readyPods()
  for (const name of former) {
    await bench.kube.remove(kinds.pod, { namespace: bench.namespace, name }, signal, { graceSeconds: 0 })
  }
  const isBack = async () => (await bench.readyPods()).filter((name) => !former.includes(name)).length === 2
  await until('two others are ready', isBack, { limitMs: 90_000 })
  // The node learns of them within a second.
  const isAnswered = () =>
    askNode(bench.at, host).then(
      ({ body }) => body === 'ok',
      () => false,
    )
  await until('they answer', isAnswered)
  // The platform returns.
  await bench.another().replaceAll([route([await bench.start(saying('new'))])], signal)
  assert.deepEqual(await askNode(bench.at, host), { status: 200, body: 'new' })
})

test('routers that start while the platform is away have a table of many objects', { timeout: 240_000 }, async (t) => {
  await open(t)
  const many = Array.from({ length: 15_000 }, (_, index) => {
    // Random text does not become shorter.
    return route([], { host: `app-${index}.test`, service: `s${index}`, reason: randomBytes(100).toString('base64') })
  })
  await bench.router.replaceAll([...many, route([await bench.start(saying('ok'))])], signal)
  const place = { namespace: bench.namespace, labels: {} }
  const { items } = await bench.kube.list(kinds.secret, place, signal)
  const parts = items.filter(({ metadata }) => metadata.name.startsWith('router-table-'))
  assert.equal(parts.length, 16)
  const former = await bench.readyPods()
  for (const name of former) {
    await bench.kube.remove(kinds.pod, { namespace: bench.namespace, name }, signal, { graceSeconds: 0 })
  }
  const isBack = async () => (await bench.readyPods()).filter((name) => !former.includes(name)).length === 2
  await until('two others are ready', isBack, { limitMs: 90_000 })
  const answers = () =>
    Promise.all(['app-0.test', 'app-14999.test', host].map((name) => askNode(bench.at, name).catch(() => undefined)))
  const statuses = async () => (await answers()).map((answer) => answer?.status)
  await until('they answer', async () => String(await statuses()) === '503,503,200', {
    limitMs: 30_000,
    seen: statuses,
  })
  await bench.router.replaceAll([], signal)
  const left = (await bench.kube.list(kinds.secret, place, signal)).items
  assert.deepEqual(
    left.filter(({ metadata }) => metadata.name.startsWith('router-table-')),
    [],
  )
})

test('a replica that Kubernetes replaces while the platform is away gets requests', async (t) => {
  await open(t)
  const release = newId()
  const former = await bench.start(saying('former'), release)
  const replicas = bench.replicas(release)
  await bench.router.replaceAll([route([former], replicas && { replicas })], signal)
  assert.deepEqual(await askNode(bench.at, host), { status: 200, body: 'former' })
  await bench.stop(former)
  await bench.start(saying('next'), release)
  // Requests at the replica that is killed are lost.
  const answer = () => askNode(bench.at, host).catch(() => undefined)
  const answers = async () => Promise.all(Array.from({ length: 6 }, answer))
  await until('both routers lead to it', async () => (await answers()).every((one) => one?.body === 'next'), {
    limitMs: 60_000,
  })
})

test('requests for a sleeping service wait in both routers, and wake it once', async (t) => {
  await open(t)
  await bench.router.replaceAll([route([], { asleep: true, reason: 'it is asleep' })], signal)
  const waiting = bench.router.wakes(-1, 20_000, signal)
  const held = Array.from({ length: 20 }, () => askNode(bench.at, host))
  const { services, sequence } = await waiting
  assert.deepEqual(services, ['shop'])
  // The other router may report it again, and nobody reports it a third time.
  await bench.router.wakes(sequence, 500, signal).then((second) => bench.router.wakes(second.sequence, 500, signal))
  await bench.router.replaceAll([route([await bench.start(saying('awake'))])], signal)
  for (const answer of await Promise.all(held)) assert.deepEqual(answer, { status: 200, body: 'awake' })
  assert.equal((await bench.router.activity(signal)).get('shop')?.requests, 20)
})

test('nobody outside of a router reaches its control port', async (t) => {
  await open(t)
  const { items } = await bench.kube.list(kinds.pod, { namespace: bench.namespace }, signal)
  for (const { status } of items) {
    const refused = await new Promise<unknown>((resolve) => {
      const socket = connect({ host: status?.podIP ?? '', port: 8082 })
      socket.once('connect', () => resolve('connected'))
      socket.once('error', (error) => resolve(Object(error).code))
    })
    assert.equal(refused, 'ECONNREFUSED')
  }
})

test('rules of a route act as in the router of the platform', async (t) => {
  await open(t)
  const [one, two] = [await bench.start(saying('one')), await bench.start(saying('two'))]
  const hashed = '$apr1$qsalt$oiM4LbSMkeopJnzHqulMG1'
  await bench.router.replaceAll(
    [
      route([one], { host: 'closed.test', rules: { allow: ['192.0.2.0/24'] } }),
      route([one], { host: 'login.test', rules: { basicAuth: [{ login: 'ada', hash: hashed }] } }),
      route([one, two], { host: 'sticky.test', rules: { sticky: true } }),
      route([one], { path: '/api', rewrite: '/v1' }),
    ],
    signal,
  )
  const statusAt = async (name: string) => (await askNode(bench.at, name)).status
  assert.deepEqual([await statusAt('closed.test'), await statusAt('login.test')], [403, 401])
  const first = await fetchWith(bench.at, 'sticky.test', {})
  const cookie = String(first.headers['set-cookie']).split(';', 1)[0] ?? ''
  // Any router finds the same endpoint by the cookie.
  for (let index = 0; index < 12; index++) {
    assert.equal((await fetchWith(bench.at, 'sticky.test', { cookie })).body, first.body)
  }
})

interface Fetched {
  readonly body: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Asks over a connection of its own. */
function fetchWith(port: number, name: string, headers: Readonly<Record<string, string>>): Promise<Fetched> {
  const { promise, resolve, reject } = Promise.withResolvers<Fetched>()
  const options = { host: addresses.node, port, headers: { host: name, ...headers }, agent: false, signal } as const
  const sent = request(options, async (answer) => {
    let body = ''
    for await (const part of answer.setEncoding('utf8')) body += String(part)
    resolve({ body, headers: answer.headers })
  })
  sent.on('error', reject)
  sent.end()
  return promise
}
