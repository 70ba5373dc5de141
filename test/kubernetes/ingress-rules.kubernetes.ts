import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { now, until } from '../support/until.ts'
import { askController, type IngressBench, openIngressBench } from './support/ingress-bench.ts'

// Rules of routes in Traefik that act between the controller and replicas.

const image = usePublishedImage()
const signal = AbortSignal.timeout(600_000)
const workingPort = 8081

interface Scene {
  readonly bench: IngressBench
  /** Applies routes, and waits until the controller knows all of them. */
  apply(routes: readonly Route[]): Promise<void>
  /** Returns a route to a port of the release of an endpoint. */
  at(host: string, endpoint: RouteEndpoint, more?: Partial<Route>, port?: number): Route
}

async function open(t: { after(work: () => Promise<void>): void }): Promise<Scene> {
  const bench = await openIngressBench(image.reference())
  t.after(() => bench.close())
  return {
    bench,
    apply: async (routes) => {
      await bench.router.replaceAll(routes, signal)
      for (const { host } of routes) {
        await until(`${host} is known`, async () => (await askController(host)).status !== 404)
      }
    },
    at: (host, endpoint, more = {}, port = endpoint.port) => {
      const replicas = bench.replicas([endpoint])
      return {
        ...{ host, service: `service of ${host}`, name: 'shop', endpoints: [{ ...endpoint, port }] },
        ...(replicas && { replicas }),
        ...more,
      }
    },
  }
}

/** A program that answers with a text at a port. The readiness probe asks 8080. */
const answering = (text: string, port: number): string =>
  `require('http').createServer((q, r) => r.end(${JSON.stringify(text)})).listen(${port});`
const ready = "require('net').createServer((socket) => socket.destroy()).listen(8080);"

test('a sticky route keeps a client at its replica', async (t) => {
  const { bench, apply, at } = await open(t)
  const one = await bench.start(answering('one', 8080))
  await bench.start(answering('two', 8080), one)
  await apply([at('sticky.test', one, { rules: { sticky: true } })])
  const ask = (headers = {}) => askController('sticky.test', { headers })
  const seen = new Set<string>()
  await until('both replicas answer', async () => seen.add((await ask()).body).size === 2)
  const { headers, body } = await ask()
  const cookie = String(headers['set-cookie']).split(';', 1)[0] ?? ''
  assert.match(cookie, /^quayside_replica=./)
  for (let count = 0; count < 20; count++) assert.equal((await ask({ cookie })).body, body)
})

test('a route with retries reaches another replica when one refuses the connection', async (t) => {
  const { bench, apply, at } = await open(t)
  const works = await bench.start(ready + answering('works', workingPort))
  await bench.start(ready, works)
  await apply([
    at('once.test', works, {}, workingPort),
    at('retried.test', works, { rules: { retry: { times: 2 } } }, workingPort),
  ])
  const statuses = async (host: string): Promise<readonly number[]> => {
    const found: number[] = []
    for (let count = 0; count < 20; count++) found.push((await askController(host)).status)
    return found
  }
  // The controller knows both replicas once one of them has refused a request.
  await until('a replica refuses', async () => (await askController('once.test')).status === 502)
  assert.ok((await statuses('once.test')).includes(502))
  await until('the controller knows the rule', async () => !(await statuses('retried.test')).includes(502))
  assert.deepEqual(new Set(await statuses('retried.test')), new Set([200]))
})

test('a route with a connect timeout answers 504 when its replica accepts no connection', async (t) => {
  const { bench, at } = await open(t)
  // Nobody accepts its connections, so the system drops further ones.
  const deaf = `new (require('worker_threads').Worker)(
    "require('net').createServer().listen({ port: ${workingPort}, backlog: 1 }, () =>" +
    " Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))", { eval: true });`
  const endpoint = await bench.start(ready + deaf)
  const sockets = Array.from({ length: 8 }, () => connect({ host: endpoint.address, port: workingPort }))
  for (const socket of sockets) socket.on('error', () => {})
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
  })
  await bench.router.replaceAll([at('deaf.test', endpoint, { rules: { connectTimeoutMs: 700 } }, workingPort)], signal)
  const answer = await until('it answers 504', async () => {
    const sentAt = now()
    const { status } = await askController('deaf.test')
    return status === 504 && { status, tookMs: now() - sentAt }
  })
  // Without the rule Traefik waits for 30 seconds.
  assert.ok(answer.tookMs >= 650 && answer.tookMs < 10_000, JSON.stringify(answer))
})

test('a route with an idle timeout closes idle connections, and one without keeps them', async (t) => {
  const { bench, apply, at } = await open(t)
  const counting = `const server = require('http').createServer((q, r) =>
    server.getConnections((e, count) => r.end(String(count))));
    server.keepAliveTimeout = 0; server.listen(8080)`
  const [limited, free] = [await bench.start(counting), await bench.start(counting)]
  const endpointOf = (endpoint: RouteEndpoint) => ({ host: endpoint.address, port: endpoint.port })
  /** The connections of a replica, without the one that asks. */
  const connectionsOf = async (endpoint: RouteEndpoint): Promise<number> =>
    Number((await askController('direct.test', { address: endpointOf(endpoint) })).body) - 1
  await apply([at('limited.test', limited, { rules: { idleTimeoutMs: 1500 } }), at('free.test', free)])
  await until('the free route has a connection', async () => {
    await askController('free.test')
    return (await connectionsOf(free)) > 0
  })
  await askController('limited.test')
  await until('the limited route has none', async () => (await connectionsOf(limited)) === 0)
  assert.ok((await connectionsOf(free)) > 0)
})
