import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { findFreePort } from '../support/free-port.ts'
import { startDoorAuthority } from '../support/front-door.ts'
import { openGitRemote } from '../support/git-remote.ts'
import { askPlain, type SecureClient, secureClient } from '../support/https.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// The API, the console and the git host at the router of the platform, over HTTPS.

const [routerPort, tlsPort] = [await findFreePort(), await findFreePort()]
const authority = await startDoorAuthority({ after }, { domain: 'lab.test', httpPort: routerPort })
const skip = authority ? false : 'this machine has no Go'
const host = 'quayside.lab.test'
let server: ServerProcess
let client: SecureClient
let root = ''

before(
  async () => {
    if (!authority) return
    root = await authority.pebble.root()
    client = secureClient({ port: tlsPort, root })
    server = await startServer({
      env: {
        ...authority.settings,
        QUAYSIDE_RATE_LIMIT: '1',
        QUAYSIDE_RATE_BURST: '2000',
        QUAYSIDE_ROUTER_PORT: String(routerPort),
        QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort),
      },
    })
    const answers = async () =>
      (await client.ask(host, { path: '/health/ready' }).catch(() => undefined))?.status === 200
    await until('the platform answers over HTTPS', answers, { seen: () => server.output.slice(-10) })
  },
  { timeout: 180_000 },
)
after(async () => {
  client?.close()
  await server?.close()
})

test('the API answers at the name of the platform, and plain HTTP is redirected', { skip }, async () => {
  const path = '/organization'
  const headers = { host, authorization: `Token ${server.token}` }
  const { status, body } = await client.ask(host, { path, headers })
  assert.equal(status, 200)
  assert.equal(JSON.parse(body).results[0].id, server.organizationId)
  const plain = await askPlain(routerPort, host, path)
  assert.deepEqual([plain.status, plain.headers['location']], [308, `https://${host}:${tlsPort}${path}`])
})

test('the issuer of tokens answers there, by its own name', { skip }, async () => {
  const issuer = await client.ask(host, { path: '/oidc/.well-known/openid-configuration' })
  assert.equal(JSON.parse(issuer.body).issuer, `https://${host}:${tlsPort}/oidc/`)
})

test('git pushes to and fetches from the git host over HTTPS', { skip }, async () => {
  const { token, dataDirectory } = server
  const git = await openGitRemote({ url: `https://${host}:${tlsPort}/git/secure.git`, token })
  try {
    const file = join(dataDirectory, 'root.pem')
    await writeFile(file, root)
    await git.git('config', 'http.sslCAInfo', file)
    await git.git('config', 'http.curloptResolve', `${host}:${tlsPort}:127.0.0.1`)
    const commit = await git.push({ 'large.txt': 'line\n'.repeat(2_000_000) })
    assert.match(await git.git('ls-remote', 'origin', 'main'), new RegExp(`^${commit}`))
  } finally {
    await git.remove()
  }
})

test('a stream is upgraded over HTTPS', { skip }, async () => {
  const { organizationId } = server
  const clusters = await server.must<{ results: { id: string }[] }>('GET', `/organization/${organizationId}/cluster`)
  const path = `/cluster/status?organization=${organizationId}&cluster=${clusters.results[0]?.id}`
  const socket = connect({ host: '127.0.0.1', port: tlsPort, servername: host, ca: root })
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Token ${server.token}\r\nConnection: Upgrade\r\n` +
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  try {
    await until('the stream answers', () => text.startsWith('HTTP/1.1 '))
    assert.match(text, /^HTTP\/1\.1 101 /)
  } finally {
    socket.destroy()
  }
})

test('each client of the router has a budget of its own, which a local program cannot use', { skip }, async () => {
  const path = '/organization'
  const left = (headers: Readonly<Record<string, unknown>>) => Number(headers['x-ratelimit-remaining'])
  const through = async (localAddress: string) =>
    left((await client.ask(host, { path, localAddress, headers: { host, authorization: 'Token wrong' } })).headers)
  const forge = async (name: string, door?: string) => {
    const headers = { 'x-forwarded-for': name, authorization: 'Token wrong', ...(door && { 'x-quayside-door': door }) }
    return left(Object.fromEntries((await fetch(`${server.apiUrl}${path}`, { headers })).headers))
  }
  const full = await through('127.0.0.2')
  assert.ok(full > 0)
  assert.equal(await through('127.0.0.3'), full)
  for (const door of [undefined, 'guess']) for (let times = 0; times < 5; times++) await forge('127.0.0.4', door)
  assert.equal(await through('127.0.0.4'), full)
})
