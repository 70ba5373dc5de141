import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { type RouterUnderTest, routerCases } from '../../server/routers/router.cases.ts'
import { RoutesRefusedError } from '../../server/routers/routes-refused.ts'
import { until } from '../support/until.ts'
import { kubectl } from './cluster/commands.ts'
import { askPortOf, datagrams } from './support/ask-port-of.ts'
import { type Answer, askController, type IngressBench, openIngressBench } from './support/ingress-bench.ts'
import { type OtherController, startOtherController } from './support/other-controller.ts'

// Traefik on a real cluster, and a controller of another class.

const image = usePublishedImage()
const signal = AbortSignal.timeout(1_200_000)
const serve = (answer: string): string => `require('http').createServer((q,r)=>{${answer}}).listen(8080)`

routerCases('ingress router', () => subject(), { countsRequests: false })

/** Opens a router for the cases, whose controller is Traefik or the one of a class. */
async function subject(other?: OtherController): Promise<RouterUnderTest> {
  const bench = await openIngressBench(image.reference(), other && { className: other.className })
  const ask = async (host: string): Promise<string | undefined> => {
    const { status, body } = await askController(host, other && { address: other.address })
    return status === 200 ? body : undefined
  }
  return {
    router: bench.router,
    application: (name) => bench.start(serve(`r.end(${JSON.stringify(name)})`) + datagrams(name)),
    askPort: (listen) => askPortOf(bench.router, listen, signal),
    ask,
    follows: async (host, name) => {
      await until(`${name} answers at ${host}`, async () => (await ask(host)) === name)
    },
    replicas: bench.replicas,
    open: () => Promise.reject(new Error('nobody counts the requests of a controller')),
    close: bench.close,
  }
}

async function open(t: { after(work: () => Promise<void>): void }): Promise<IngressBench> {
  const bench = await openIngressBench(image.reference())
  t.after(() => bench.close())
  return bench
}

const echo = serve("r.setHeader('x-seen',JSON.stringify(q.headers));r.end(q.url)")
/** A hash of `secret`, as `htpasswd -nm` writes it. */
const hashed = '$apr1$qsalt$oiM4LbSMkeopJnzHqulMG1'

test('rules of a route act in Traefik', async (t) => {
  const bench = await open(t)
  const endpoint = await bench.start(echo)
  const replicas = bench.replicas([endpoint])
  const at = (host: string, more: Partial<Route>): Route => ({
    host,
    service: `service of ${host}`,
    name: 'shop',
    endpoints: [endpoint],
    ...(replicas && { replicas }),
    ...more,
  })
  const cors = { origins: ['https://a.test'], methods: 'GET', headers: 'x-a' }
  await bench.router.replaceAll(
    [
      at('plain.test', {}),
      at('plain.test', { path: '/api', rewrite: '/v1' }),
      at('closed.test', { rules: { allow: ['192.0.2.0/24'] } }),
      at('open.test', { rules: { allow: ['10.0.0.0/8', '127.0.0.0/8'] } }),
      at('cors.test', { rules: { cors } }),
      at('headers.test', { rules: { headers: { 'x-more': 'yes' } } }),
      at('login.test', { rules: { basicAuth: [{ login: 'ada', hash: hashed }] } }),
      at('sticky.test', { rules: { sticky: true } }),
      at('*.wild.test', {}),
    ],
    signal,
  )
  const is = (host: string, expected: number, more: Parameters<typeof askController>[1] = {}): Promise<Answer> =>
    until(`${host} answers ${expected}`, async () => {
      const answer = await askController(host, more)
      return answer.status === expected && answer
    })
  await is('a.wild.test', 200)
  assert.equal((await is('plain.test', 200, { path: '/x?y=1' })).body, '/x?y=1')
  await until(
    'the path is rewritten',
    async () => (await askController('plain.test', { path: '/api/z' })).body === '/v1/z',
  )
  assert.equal((await is('plain.test', 200, { path: '/apiary' })).body, '/apiary')
  await is('closed.test', 403)
  await is('open.test', 200)
  const allowed = await is('cors.test', 200, { headers: { origin: 'https://a.test' } })
  assert.equal(allowed.headers['access-control-allow-origin'], 'https://a.test')
  const other = await is('cors.test', 200, { headers: { origin: 'https://b.test' } })
  assert.equal(other.headers['access-control-allow-origin'], undefined)
  assert.equal((await is('headers.test', 200)).headers['x-more'], 'yes')
  await is('login.test', 401)
  const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`
  await is('login.test', 200, { headers: { authorization } })
  assert.match(String((await is('sticky.test', 200)).headers['set-cookie']), /^quayside_replica=.*HttpOnly/)
})

test('a route with a rule that cannot be applied is refused, and leads nowhere if it is protected', async (t) => {
  const bench = await open(t)
  const endpoint = await bench.start(echo)
  const replicas = bench.replicas([endpoint])
  const common = { name: 'shop', endpoints: [endpoint], ...(replicas && { replicas }) }
  const routes = [
    { host: 'free.test', service: 'a', ...common },
    { host: 'denied.test', service: 'b', rules: { deny: ['192.0.2.0/24'] }, ...common },
  ]
  await assert.rejects(bench.router.replaceAll(routes, signal), {
    name: 'RoutesRefusedError',
    message: /its rule deny cannot be applied: Traefik can only allow networks/,
  })
  await until('the other route answers', async () => (await askController('free.test')).status === 200)
  await until('the refused route leads nowhere', async () => (await askController('denied.test')).status === 503)
})

describe('with a class of ingress-nginx', () => {
  let controller: OtherController
  before(async () => {
    controller = await startOtherController()
  })
  after(() => controller?.close())

  routerCases('ingress router of another class', () => subject(controller), { countsRequests: false })

  test('routes without rules act, and protected ones lead nowhere', async (t) => {
    const { className, address } = controller
    const bench = await openIngressBench(image.reference(), { className })
    t.after(() => bench.close())
    const endpoint = await bench.start(echo)
    const replicas = bench.replicas([endpoint])
    const at = (host: string, more: Partial<Route>): Route => ({
      ...{ host, service: host, name: 'shop', endpoints: [endpoint] },
      ...(replicas && { replicas }),
      ...more,
    })
    const routes = [
      at('free.test', {}),
      at('free.test', { path: '/api' }),
      at('*.wild.test', {}),
      at('allowed.test', { rules: { allow: ['192.0.2.0/24'] } }),
      at('login.test', { rules: { basicAuth: [{ login: 'ada', hash: hashed }] } }),
      at('moved.test', { rewrite: '/v1' }),
    ]
    const refused = await bench.router.replaceAll(routes, signal).catch((error: unknown) => error)
    assert.ok(refused instanceof RoutesRefusedError)
    assert.deepEqual([...refused.services.keys()].toSorted(), ['allowed.test', 'login.test', 'moved.test'])
    const bodyAt = async (host: string, path = '/') => (await askController(host, { path, address })).body
    await until('the free route answers', async () => (await bodyAt('free.test', '/x')) === '/x')
    await until('the path below it answers', async () => (await bodyAt('free.test', '/api/z')) === '/api/z')
    await until('the wildcard answers', async () => (await bodyAt('a.wild.test')) === '/')
    for (const host of ['allowed.test', 'login.test', 'moved.test']) {
      await until(`${host} leads nowhere`, async () => (await askController(host, { address })).status === 503)
    }
    const [finding] = await bench.router.listFindings(signal)
    assert.match(String(finding?.message), /is not Traefik/)
  })
})

test('a port without a load balancer says so, and is reached at the address of one that comes', async (t) => {
  const bench = await openIngressBench(image.reference(), { portType: 'LoadBalancer' })
  t.after(() => bench.close())
  const endpoint = await bench.start(echo)
  const replicas = bench.replicas([endpoint])
  const listen = { protocol: 'TCP', port: 30_777 } as const
  const route = { host: 'lb.test:30777', service: 's', name: 'shop', endpoints: [endpoint], listen }
  await bench.router.replaceAll([{ ...route, ...(replicas && { replicas }) }], signal)
  const reached = async () => (await bench.router.portAddresses(signal)).map((one) => one.reached)
  assert.match(JSON.stringify(await reached()), /assigned no address to its Service of the type LoadBalancer/)
  const { namespace } = bench
  const [service] = (await bench.kube.list(kinds.service, { namespace }, signal)).items
  assert.ok(service)
  const { name } = service.metadata
  const patch = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } })
  await kubectl(['-n', namespace, 'patch', 'service', name, '--subresource=status', '--type=merge', '-p', patch])
  assert.deepEqual(await reached(), [{ host: '203.0.113.7', port: 30_777 }])
})
