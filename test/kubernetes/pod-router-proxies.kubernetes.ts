import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestApplication } from '../support/application.ts'
import { get } from '../support/traffic.ts'
import { headersPage } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { askThroughProxy, connectThroughProxy, type ProxiedRequest } from './support/ask-through-proxy.ts'
import { openPodRouterPlace, type PodRouterPlace, routerPorts } from './support/pod-router-place.ts'

// Load balancers in front of routers in pods of a cluster, which the operator trusts. The tests
// build on each other.

const domain = 'far.home.arpa'
/** The address that the connections of this machine have in the pods. */
const balancers = `${addresses.node},${addresses.podGateway}`
const [ada, bob] = ['203.0.113.7', '198.51.100.8']
const perClient = 12
let place: PodRouterPlace
let application: TestApplication
let name: string
let root: string
const seen = () => place.server.output.slice(-15)

before(
  async () => {
    const env = { QUAYSIDE_ACME_DIRECTORY: 'local', QUAYSIDE_TRUSTED_PROXIES: balancers }
    place = await openPodRouterPlace({ folder: 'pod-proxies', domain, env })
    application = await place.application('echo')
    name = new URL(application.url).hostname
    await setRules({})
    await application.run(headersPage)
    const file = join(place.server.dataDirectory, 'authority.pem')
    await until('the root is published', () => readFile(file).catch(() => undefined), { limitMs: 60_000, seen })
    root = await readFile(file, 'utf8')
    const isSecure = () => secure({}).then(Boolean, () => false)
    await until('it answers over HTTPS', isSecure, { limitMs: 60_000, seen })
  },
  { timeout: 400_000 },
)
after(async () => {
  await application?.git.remove()
  await place?.close()
})

const usualRules = { 'network.ingress.force_ssl_redirect': false, 'network.router.access_log': true }
/** Replaces all rules except the usual ones. */
const setRules = (rules: object) =>
  place.server.must('PUT', `/application/${application.id}/advancedSettings`, { ...usualRules, ...rules })

type Asked = Pick<ProxiedRequest, 'client' | 'path' | 'headers'>
const plain = (asked: Asked) => askThroughProxy({ name, port: routerPorts.plain, ...asked })
const secure = (asked: Asked) => askThroughProxy({ name, port: routerPorts.tls, root, ...asked })
const both = { HTTP: plain, HTTPS: secure } as const

/** Returns the headers that the application gets. */
const headersOf = ({ body }: { readonly body: string }): Record<string, string> =>
  JSON.parse(/<pre>(.*)<\/pre>/.exec(body)?.[1] ?? assert.fail(body)).headers

test('a proxy that the operator trusts names the client in headers at both ports', { timeout: 60_000 }, async () => {
  for (const [protocol, ask] of Object.entries(both)) {
    const given = { 'x-forwarded-for': `${bob}, ${ada}`, 'x-forwarded-proto': 'https' }
    const headers = headersOf(await ask({ headers: given }))
    assert.equal(headers['x-forwarded-proto'], 'https', protocol)
    // The client's own claim is dropped.
    assert.match(headers['x-forwarded-for'] ?? '', new RegExp(`^${ada}, 10\\.`), protocol)
  }
})

/** Waits until every router answers a client with this status, at both ports. */
async function reaches(client: string, status: number, more: Asked = {}): Promise<void> {
  const answers = () =>
    Promise.all(Object.values(both).flatMap((ask) => Array.from({ length: 4 }, () => ask({ client, ...more }))))
  const isReached = () =>
    answers().then(
      (all) => all.every((answer) => answer.status === status),
      () => false,
    )
  await until(`${client} gets ${status}`, isReached, { limitMs: 30_000, seen })
}

test('the PROXY header is read at both ports once the operator lists the load balancer', {
  timeout: 240_000,
}, async () => {
  const former = new Set((await place.readyPods()).map(({ name: pod }) => pod))
  const more = {
    QUAYSIDE_TRUSTED_PROXIES: '',
    QUAYSIDE_PROXY_PROTOCOL: balancers,
    QUAYSIDE_ROUTER_CONNECTIONS_PER_CLIENT: String(perClient),
  }
  await place.server.restart({ env: { ...place.env, ...more } })
  const areReplaced = async () => {
    const pods = await place.readyPods()
    return pods.length === 2 && pods.every(({ name: pod }) => !former.has(pod))
  }
  await until('the routers have the settings', areReplaced, { limitMs: 150_000, seen })
  await reaches(ada, 200)
  for (const [protocol, ask] of Object.entries(both)) {
    for (const client of [ada, '2001:db8::7']) {
      const forged = { 'x-forwarded-for': bob, 'x-forwarded-proto': protocol === 'HTTP' ? 'https' : 'http' }
      const headers = headersOf(await ask({ client, headers: forged }))
      assert.deepEqual([headers['x-forwarded-for'], headers['x-forwarded-proto']], [client, protocol.toLowerCase()])
    }
  }
})

test('a connection of the load balancer without the header is closed', { timeout: 60_000 }, async () => {
  for (const ask of Object.values(both)) await assert.rejects(ask({}))
  await assert.rejects(get(`http://${name}:${routerPorts.plain}/`, undefined, addresses.node))
})

test('rules about clients act on the client that the header names', { timeout: 90_000 }, async () => {
  await setRules({ 'network.ingress.whitelist_source_range': '203.0.113.0/24' })
  await reaches(bob, 403)
  await reaches(ada, 200)
  const forged = { 'x-forwarded-for': ada }
  await reaches(bob, 403, { headers: forged })
  await setRules({})
  await reaches(bob, 200)
})

test('the limit of requests counts the client that the header names', { timeout: 60_000 }, async () => {
  await setRules({ 'network.router.requests_per_minute': 3 })
  const isLimited = async () => (await secure({ client: ada })).status === 429
  await until('a client is limited', isLimited, { limitMs: 30_000, seen })
  assert.equal((await secure({ client: bob })).status, 200)
  await setRules({})
  await reaches(ada, 200)
})

test('lines of requests name the client that the header names', { timeout: 60_000 }, async () => {
  const paths = ['/plain-line', '/secure-line']
  await Promise.all([plain({ client: ada, path: paths[0] ?? '' }), secure({ client: ada, path: paths[1] ?? '' })])
  const lines = async () => (await application.log(200)).map(({ message }) => message)
  for (const path of paths) {
    const isLogged = async () => (await lines()).find((line) => line.includes(path))
    await until('the request is a line', isLogged, { limitMs: 30_000, seen })
    assert.match((await isLogged()) ?? '', new RegExp(ada.replaceAll('.', '\\.')))
  }
})

test('the limit of connections counts the client that the header names, in each router', {
  timeout: 60_000,
}, async (t) => {
  const sockets = Array.from({ length: 4 * perClient }, () =>
    connectThroughProxy({ port: routerPorts.plain, client: ada }),
  )
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  let ended = 0
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.on('close', () => {
      ended++
    })
    if (socket.connecting) await once(socket, 'connect')
    socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n`)
  }
  // Each of both routers has room for its share of one client.
  await until('connections beyond the limit are ended', () => ended >= 2 * perClient)
  assert.equal((await plain({ client: bob })).status, 200)
  assert.equal((await secure({ client: bob })).status, 200)
})
