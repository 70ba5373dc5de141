import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { startDoorAuthority } from '../support/front-door.ts'
import { askPlain, type SecureClient, secureClient } from '../support/https.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A machine with a domain and the ports 80 and 443. The domain is the only setting of addresses.

const domain = 'apps.example.org'
const host = `quayside.${domain}`
const authority = await startDoorAuthority({ after }, { domain, httpPort: 80, tlsPort: 443 })
const skip = (await whyTaken(80)) ?? (await whyTaken(443)) ?? (authority ? false : 'this machine has no Go')
let server: ServerProcess
let client: SecureClient
let application: TestApplication

/** Returns why the platform cannot listen at a port. Undefined if it can. */
async function whyTaken(port: number): Promise<string | undefined> {
  const listener = createServer().listen(port, '0.0.0.0')
  const failure = await once(listener, 'listening').then(
    () => undefined,
    (error: unknown) => `port ${port} cannot be opened: ${String(error)}`,
  )
  listener.close()
  return failure
}

before(
  async () => {
    if (skip !== false || !authority) return
    client = secureClient({ port: 443, root: await authority.pebble.root() })
    // An empty setting counts as none.
    server = await startServer({ env: { ...authority.settings, QUAYSIDE_ROUTER_PORT: '' } })
    application = await makeWeb(server)
    await application.run(web('first'))
  },
  { timeout: 180_000 },
)
after(async () => {
  client?.close()
  await application?.git.remove()
  await server?.close()
})

const answers = (name: string, path = '/') =>
  until(`${name} answers over HTTPS`, () => client.ask(name, { path }).catch(() => undefined), {
    seen: () => server.output.slice(-10),
  })

test('the API and the console answer at the name of the platform without a port', { skip }, async () => {
  assert.equal((await answers(host, '/health/ready')).status, 200)
  assert.match((await client.ask(host)).body, /<title>Quayside/)
  const issuer = await client.ask(host, { path: '/oidc/.well-known/openid-configuration' })
  assert.equal(JSON.parse(issuer.body).issuer, `https://${host}/oidc/`)
  const plain = await askPlain(80, host, '/organization')
  assert.deepEqual([plain.status, plain.headers['location']], [308, `https://${host}/organization`])
  assert.ok(server.output.some((line) => line.trim() === `Console      https://${host}/`))
  const example = server.output.find((line) => line.trim().startsWith('Application '))
  assert.match(example ?? '', /^Application {2}https:\/\/[a-z0-9-]+\.apps\.example\.org$/)
})

test('a deployed application answers over HTTPS, and its link has no port', { skip }, async () => {
  const name = new URL(application.url).hostname
  assert.ok(name.endsWith(`.${domain}`))
  assert.equal((await answers(name)).body, 'first')
  const link = async () => {
    const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${application.id}/link`)
    return results.some(({ url }) => url === `https://${name}`)
  }
  await until('the link of the application says https', link)
  const plain = await askPlain(80, name, '/a?b=c')
  assert.deepEqual([plain.status, plain.headers['location']], [308, `https://${name}/a?b=c`])
})

test('a certificate is renewed while requests arrive, and none is lost', { skip }, async () => {
  const name = new URL(application.url).hostname
  await answers(name)
  const issuedFor = () => server.output.filter((line) => line.includes('certificate issued') && line.includes(name))
  const before = issuedFor().length
  await server.sql`update host_certificate set due_at = 'epoch' where host = ${name}`
  const statuses: number[] = []
  const ask = async () => {
    const fresh = secureClient({ port: 443, root: (await authority?.pebble.root()) ?? '' })
    for (const one of [client, fresh]) statuses.push((await one.ask(name)).status)
    fresh.close()
    return issuedFor().length > before
  }
  await until('the certificate is renewed', ask, { limitMs: 60_000 })
  await ask()
  assert.deepEqual([...new Set(statuses)], [200])
})
