import assert from 'node:assert/strict'
import { connect as connectSession } from 'node:http2'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { makeApplication, type TestApplication } from '../support/application.ts'
import { startDnsWebhook } from '../support/dns-webhook.ts'
import type { Tree } from '../support/git-remote.ts'
import { textsClient } from '../support/grpc.ts'
import { texts } from '../support/grpc-tree.ts'
import { endAfter } from '../support/http2-session.ts'
import { type SecureClient, secureClient } from '../support/https.ts'
import { issued } from '../support/issued.ts'
import { startNameServer } from '../support/name-server.ts'
import { type Pebble, startPebble } from '../support/pebble/pebble.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { openPodRouterPlace, type PodRouterPlace, routerPorts } from './support/pod-router-place.ts'
import { serialAt, startSecureTraffic } from './support/secure-traffic.ts'

// HTTPS at the platform's routers in pods of a cluster, with certificates of Let's Encrypt's test
// server. The tests build on each other.

const { plain: plainPort, tls: tlsPort } = routerPorts
const domain = 'apps.far.test'
const names = await startNameServer({ after })
for (const zone of [domain, 'far.test']) names.zones.set(`*.${zone}`, { A: addresses.node })
/** The address of what changes DNS for the platform. */
const webhook = await startDnsWebhook({ after }, names)
const pebble = await startPebble({ after }, { nameServer: names.address, httpPort: plainPort, tlsPort })
const skip = pebble ? false : 'this machine has no Go'
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

const echo: Tree = {
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    require('node:http')
      .createServer(({ headers, url }, response) => {
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify({ url, headers, filling: url === '/long' ? 'x'.repeat(5000) : '' }))
      })
      .listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
}

let place: PodRouterPlace
let server: ServerProcess
let application: TestApplication
let client: SecureClient
let root: string
/** The platform's name of the application. */
let name: string
const at = { host: addresses.node }
const askSecure = (host: string, path = '/') => client.ask(host, { ...at, path })

before(
  async () => {
    if (!pebble) return
    place = await openPodRouterPlace({ folder: 'pod-router-tls', domain, env: await settings(pebble) })
    server = place.server
    root = await pebble.root()
    client = secureClient({ port: tlsPort, root })
    const again = await place.cluster.deploy()
    assert.match(again.lines, new RegExp(`NodePort, ports ${plainPort} and ${tlsPort} of nodes with a router`))
    assert.ok(again.lines.includes(`With the record ${recordNames().join(' CNAME ')} they share one.`), again.lines)
    application = await place.application('echo')
    name = new URL(application.url).hostname
    await application.run(echo)
  },
  { timeout: 400_000 },
)
after(async () => {
  client?.close()
  await application?.git.remove()
  await place?.close()
})

async function settings({ directory, serverRoot }: Pebble): Promise<Record<string, string>> {
  return {
    QUAYSIDE_ACME_DIRECTORY: directory,
    QUAYSIDE_ACME_DNS_WEBHOOK: webhook,
    QUAYSIDE_NAME_SERVERS: names.address,
    NODE_EXTRA_CA_CERTS: serverRoot,
  }
}

/** The record by which the names of the cluster share a certificate. */
function recordNames(): readonly [string, string] {
  const own = `_acme-challenge.${domain}`
  return [own, `${own}.${place.cluster.id}.localhost`]
}

const readyPods = () => place.readyPods()
const serials = async () => Promise.all((await readyPods()).map(({ address }) => serialAt(address, 8443, root, name)))
const seen = () => [server.output.slice(-15), pebble?.output.slice(-10)]

test('the name of a service gets a certificate through the routers of its cluster', {
  skip,
  timeout: 180_000,
}, async () => {
  const isSecure = async () => (await askSecure(name).catch(() => undefined))?.status === 200
  await until('HTTPS answers', isSecure, { limitMs: 90_000, seen })
  const { url, headers } = JSON.parse((await askSecure(name, '/a?b=c')).body)
  assert.equal(url, '/a?b=c')
  assert.deepEqual(
    [headers.host, headers['x-forwarded-proto'], headers['x-forwarded-port'], headers['x-quayside-door']],
    [name, 'https', '443', undefined],
  )
  const hasLink = async () => {
    const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${application.id}/link`)
    return results.some((link) => link.url === `https://${name}`)
  }
  await until('the link says https', hasLink)
})

test('plain HTTP is redirected to the usual port, and both routers have the certificate', { skip }, async () => {
  assert.equal((await get(`http://${name}:${plainPort}/a`, undefined, addresses.node)).status, 308)
  const found = await serials()
  assert.equal(found.length, 2)
  assert.equal(new Set(found).size, 1)
})

test('HTTP/2 is spoken, and a request for another host gets 421', { skip, timeout: 60_000 }, async (t) => {
  const session = connectSession(`https://${name}:${tlsPort}`, {
    ca: root,
    servername: name,
    lookup: (_host, _options, done) => done(null, [{ address: addresses.node, family: 4 }]),
  })
  endAfter(t, session)
  const ask = async (authority: string) => {
    const stream = session.request({ ':path': '/h2', ':authority': authority })
    const status = new Promise<number>((resolve) => stream.once('response', (one) => resolve(Number(one[':status']))))
    return { body: await text(stream), status: await status }
  }
  assert.deepEqual(JSON.parse((await ask(name)).body).url, '/h2')
  assert.equal(session.alpnProtocol, 'h2')
  assert.equal((await ask('other.far.test')).status, 421)
})

interface Domain {
  readonly id: string
  readonly certificate: { readonly state: string; readonly message: string | null }
}
const domains = () => `/application/${application.id}/customDomain`
async function reaches({ id }: Domain, state: string): Promise<void> {
  let last: Domain | undefined
  const has = async () => {
    const { results } = await server.must<{ results: Domain[] }>('GET', domains())
    last = results.find((one) => one.id === id)
    return last?.certificate.state === state
  }
  await until(`its certificate is ${state}`, has, { limitMs: 60_000, seen: () => [last, seen()] })
}

test('custom domains have ordered and uploaded certificates', { skip, timeout: 180_000 }, async (t) => {
  const shop = await server.must<Domain>('POST', domains(), { domain: 'shop.far.test', generate_certificate: true })
  await reaches(shop, 'READY')
  assert.equal((await askSecure('shop.far.test')).status, 200)
  const own = await server.must<Domain>('POST', domains(), { domain: 'own.lab.test', generate_certificate: false })
  const body = { chain: issued.cert + issued.intermediate, private_key: issued.key }
  await server.must('PUT', `${domains()}/${own.id}/certificate`, body)
  await reaches(own, 'UPLOADED')
  const trusting = secureClient({ port: tlsPort, root: issued.root })
  t.after(() => trusting.close())
  assert.equal((await trusting.ask('own.lab.test', at)).status, 200)
})

test('no request is lost while a certificate is renewed and each router is deleted in turn', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const [before = ''] = await serials()
  const traffic = startSecureTraffic(tlsPort, root, name)
  t.after(() => traffic.stop())
  await traffic.sends(200)
  await server.sql`update host_certificate set due_at = now() where host = ${name}`
  const isRenewed = async () => (await serials()).every((serial) => serial !== before)
  await until('both routers have the new certificate', isRenewed, { limitMs: 60_000, seen })
  await traffic.sends(200)
  for (const { name: pod } of await readyPods()) {
    await place.removePod(pod)
    const isReplaced = async () => {
      const now = await readyPods()
      return now.length === 2 && now.every((one) => one.name !== pod)
    }
    await until('the deleted router is replaced', isReplaced, { limitMs: 120_000, seen })
    await traffic.sends(300)
  }
  const { sent, lost } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
})

test('a certificate is renewed by a handshake at the routers (TLS-ALPN-01)', { skip, timeout: 90_000 }, async () => {
  const [before = ''] = await serials()
  await server.sql`
    update host_certificate set due_at = now(), challenge_kind = 'tls-alpn-01' where host = ${name}`
  const isRenewed = async () => (await serials()).every((serial) => serial !== before)
  await until('both routers have the new certificate', isRenewed, { limitMs: 60_000, seen })
  const [row] = await server.sql`select challenge_kind from host_certificate where host = ${name}`
  assert.equal(row?.['challenge_kind'], 'tls-alpn-01')
})

test('an application that speaks gRPC is called over HTTPS', { skip, timeout: 180_000 }, async (t) => {
  const { environmentId } = application
  const ports = [{ name: 'texts', internal_port: 8080, publicly_accessible: true, protocol: 'GRPC' }]
  const settings = { cpu: 50, ports }
  const calls = await makeApplication(server, { environmentId, name: 'texts', settings })
  t.after(() => calls.git.remove())
  await calls.run(texts('one'))
  const host = new URL(calls.url).hostname
  const texting = textsClient({ port: tlsPort, host, root, address: addresses.node })
  t.after(() => texting.close())
  const isAnswered = async () => (await texting.unary('hello').catch(() => '')) === 'one hello'
  await until('a call is answered', isAnswered, { limitMs: 60_000, seen })
  assert.deepEqual(await texting.converse(['a', 'b']), ['A', 'B'])
})

test('answers are compressed once the service asks for it', { skip, timeout: 60_000 }, async () => {
  const ask = () => client.ask(name, { ...at, path: '/long', headers: { host: name, 'accept-encoding': 'gzip' } })
  assert.equal((await ask()).headers['content-encoding'], undefined)
  await server.must('PUT', `/application/${application.id}/advancedSettings`, { 'network.router.compression': true })
  await until('an answer is compressed', async () => (await ask()).headers['content-encoding'] === 'gzip')
})

test('private keys are in the memory of the routers only', { skip }, async () => {
  const configMaps = { ...kinds.secret, kind: 'ConfigMap', plural: 'configmaps' }
  const { kube, namespace } = place
  const lists = [kinds.secret, configMaps].map((kind) => kube.list(kind, { namespace }, limit()))
  const pods = kube.list(kinds.pod, { namespace }, limit())
  for (const { items } of await Promise.all([...lists, pods])) {
    const plain = JSON.stringify(items)
    const data = items.flatMap((item) => Object.values(Object(Object(item).data)).map(String))
    const decoded = data.map((one) => Buffer.from(one, 'base64').toString('latin1')).join('\n')
    assert.doesNotMatch(plain + decoded, /PRIVATE KEY/)
  }
})

test('counts and lines of requests come from the routers in pods', { skip, timeout: 90_000 }, async () => {
  await server.must('PUT', `/application/${application.id}/advancedSettings`, { 'network.router.access_log': true })
  const hasLine = async () => {
    await askSecure(name, '/seen')
    return (await application.log(200)).some(({ message }) => message.includes('/seen'))
  }
  await until('a request is a line of the service', hasLine, { limitMs: 30_000, seen })
  const counted = async () => {
    const path = `/service/${application.id}/traffic`
    const { total } = await server.must<{ total: { requests: number } }>('GET', path)
    return total.requests > 500
  }
  await until('the requests are counted', counted, { limitMs: 60_000, seen })
})

test('a router that starts while the platform is away gets no requests before it has certificates', {
  skip,
  timeout: 240_000,
}, async (t) => {
  await server.kill9()
  const traffic = startSecureTraffic(tlsPort, root, name)
  t.after(() => traffic.stop())
  await traffic.sends(100)
  const [first] = await readyPods()
  await place.removePod(first?.name ?? '')
  await traffic.sends(2_000)
  assert.equal((await readyPods()).length, 1)
  await server.restart({ env: place.env })
  await until('there are two again', async () => (await readyPods()).length === 2, { limitMs: 90_000, seen })
  await traffic.sends(200)
  const { sent, lost } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
})

test('names of the domain share a wildcard once its DNS leads the proof to the platform', {
  skip,
  timeout: 180_000,
}, async (t) => {
  const traffic = startSecureTraffic(tlsPort, root, name)
  t.after(() => traffic.stop())
  const former = await serials()
  const [own, target] = recordNames()
  names.zones.set(own, { CNAME: target })
  const isShared = async () =>
    await server.sql`select from host_certificate where host like '*.%' and chain is not null`
  await until('the wildcard is ordered', async () => (await isShared()).length === 1, { limitMs: 120_000, seen })
  // A certificate of the name itself comes first.
  await server.sql`delete from host_certificate where host = ${name}`
  const shows = async () => {
    const now = await serials()
    return now.length === 2 && new Set(now).size === 1 && now[0] !== former[0]
  }
  await until('both routers show it', shows, { limitMs: 60_000, seen })
  const { environmentId } = application
  const second = await makeApplication(server, { environmentId, name: 'second', settings: { cpu: 50 } })
  t.after(() => second.git.remove())
  await second.run(echo)
  assert.equal((await askSecure(new URL(second.url).hostname)).status, 200)
  await traffic.sends(100)
  const { sent, lost } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
  assert.equal((await server.sql`select from host_certificate where host like ${`%.${domain}`}`).length, 1)
  assert.deepEqual(names.zones.get(target)?.TXT ?? [], [])
})
