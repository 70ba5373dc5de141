import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { findFreePort } from '../support/free-port.ts'
import type { Tree } from '../support/git-remote.ts'
import { askPlain, type SecureClient, secureClient } from '../support/https.ts'
import { issued } from '../support/issued.ts'
import { startNameServer } from '../support/name-server.ts'
import { type Pebble, startPebble } from '../support/pebble/pebble.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// HTTPS at the router of the platform, with certificates of Let's Encrypt's test server.

const [routerPort, tlsPort] = [await findFreePort(), await findFreePort()]
const names = await startNameServer({ after })
names.zones.set('*.apps.lab.test', { A: '127.0.0.1' })
names.zones.set('*.lab.test', { A: '127.0.0.1' })
const pebble = await startPebble({ after }, { nameServer: names.address, httpPort: routerPort })
const skip = pebble ? false : 'this machine has no Go'

const echo: Tree = {
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    require('node:http')
      .createServer(({ headers, url }, response) => response.end(JSON.stringify({ url, headers })))
      .listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
}

let server: ServerProcess
let application: TestApplication
let client: SecureClient

before(
  async () => {
    if (!pebble) return
    server = await startServer({ env: settings(pebble) })
    client = secureClient({ port: tlsPort, root: await pebble.root() })
    application = await makeApplication(server, {
      environmentId: await makeEnvironment(server, 'secure'),
      name: 'echo',
    })
    await application.run(echo)
  },
  { timeout: 180_000 },
)
after(async () => {
  client?.close()
  await application?.git.remove()
  await server?.close()
})

/** A function of its own, because hooks run while this file still waits for Pebble. */
function settings({ directory, serverRoot }: Pebble): Record<string, string> {
  return {
    QUAYSIDE_DOMAIN: 'apps.lab.test',
    QUAYSIDE_ROUTER_PORT: String(routerPort),
    QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort),
    QUAYSIDE_ACME_DIRECTORY: directory,
    NODE_EXTRA_CA_CERTS: serverRoot,
  }
}

interface Domain {
  readonly id: string
  readonly certificate: { readonly state: string; readonly message: string | null }
}

const domains = () => `/application/${application.id}/customDomain`
const addDomain = (domain: string, generate_certificate = true): Promise<Domain> =>
  server.must('POST', domains(), { domain, generate_certificate })

async function reaches({ id }: Domain, state: string): Promise<Domain> {
  let last: Domain | undefined
  return until(
    `its certificate is ${state}`,
    async () => {
      const { results } = await server.must<{ results: Domain[] }>('GET', domains())
      last = results.find((one) => one.id === id)
      return last?.certificate.state === state && last
    },
    { seen: () => [last?.certificate, server.output.slice(-10), pebble?.output.slice(-10)] },
  )
}

test('a custom domain gets a certificate and answers over HTTPS', { skip, timeout: 120_000 }, async () => {
  const domain = await addDomain('shop.lab.test')
  assert.equal(domain.certificate.state, 'PENDING')
  assert.equal((await reaches(domain, 'READY')).certificate.message, null)
  const { status, body } = await client.ask('shop.lab.test', { path: '/a?b=c' })
  assert.equal(status, 200)
  const { url, headers } = JSON.parse(body)
  assert.equal(url, '/a?b=c')
  assert.equal(headers.host, 'shop.lab.test')
  assert.equal(headers['x-forwarded-proto'], 'https')
  assert.equal(headers['x-forwarded-for'], '127.0.0.1')
  const plain = await askPlain(routerPort, 'shop.lab.test', '/a')
  assert.deepEqual([plain.status, plain.headers['location']], [308, `https://shop.lab.test:${tlsPort}/a`])
})

test("the platform's own name of a service has a certificate, and its link says https", { skip }, async () => {
  const name = new URL(application.url).hostname
  const hasLink = async () => {
    const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${application.id}/link`)
    return results.some(({ url }) => url === `https://${name}:${tlsPort}`)
  }
  await until('the link of the service says https', hasLink)
  assert.equal((await client.ask(name)).status, 200)
})

test('a domain without generate_certificate has none', { skip }, async () => {
  const domain = await addDomain('plain.lab.test', false)
  assert.equal(domain.certificate.state, 'NOT_REQUESTED')
  await until('it answers', async () => (await askPlain(routerPort, 'plain.lab.test')).status === 200)
  await assert.rejects(client.ask('plain.lab.test'), /handshake failure/)
})

test('an uploaded certificate is served within a second, and no request is lost', {
  skip,
  timeout: 60_000,
}, async (t) => {
  const name = 'own.lab.test'
  const domain = await addDomain(name)
  await reaches(domain, 'READY')
  const kept = secureClient({ port: tlsPort, root: issued.root })
  t.after(() => kept.close())
  await assert.rejects(kept.ask(name), /self-signed|unable to|issuer/i)
  let isOver = false
  const asking = (async () => {
    const statuses: number[] = []
    while (!isOver) statuses.push((await client.ask(name)).status)
    return statuses
  })()
  const path = `${domains()}/${domain.id}/certificate`
  const body = { chain: issued.cert + issued.intermediate, private_key: issued.key }
  const wrong = await server.api('PUT', path, { ...body, chain: issued.cert + issued.root })
  assert.equal(wrong.status, 400)
  const startedAt = performance.now()
  const answer = await server.must<Record<string, unknown>>('PUT', path, body)
  assert.doesNotMatch(JSON.stringify(answer), /PRIVATE KEY/)
  await until(
    'the uploaded certificate is served',
    async () => (await kept.ask(name).catch(() => undefined))?.status === 200,
  )
  const tookMs = performance.now() - startedAt
  isOver = true
  // Connections of before continue with the certificate that they had.
  const statuses = await asking
  assert.deepEqual([...new Set(statuses)], [200])
  assert.ok(tookMs < 2_000, `${tookMs} ms`)
  await reaches(domain, 'UPLOADED')
  await server.must('DELETE', path)
  await reaches(domain, 'READY')
  assert.equal((await client.ask(name)).status, 200)
})

test('HTTPS answers while the server is away, and after the router was killed', {
  skip,
  timeout: 120_000,
}, async () => {
  await server.kill9()
  assert.equal((await client.ask('shop.lab.test')).status, 200)
  await server.restart({ env: settings(pebble ?? assert.fail()) })
  assert.equal((await client.ask('shop.lab.test')).status, 200)
  const router = await findRouter({ controlSocket: join(server.dataDirectory, 'router/control.sock') })
  process.kill(router?.pid ?? assert.fail('no router runs'), 'SIGKILL')
  const answers = async () => (await client.ask('shop.lab.test').catch(() => undefined))?.status === 200
  await until('a new router answers with the certificate', answers)
})

test('private keys are sealed in the database and are not in the files of the router', { skip }, async () => {
  const rows = await server.sql`select sealed_key from host_certificate where sealed_key is not null
    union all select sealed_key from acme_account`
  assert.ok(rows.length >= 3)
  for (const { sealed_key } of rows) assert.doesNotMatch(sealed_key, /PRIVATE/)
})
