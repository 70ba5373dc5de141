import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findFreePort } from '../support/free-port.ts'
import { type SecureClient, secureClient } from '../support/https.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// HTTPS on a machine without a public name, with the authority of the installation.

const tlsPort = await findFreePort()
let server: ServerProcess
let client: SecureClient

before(
  async () => {
    const env = { QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort), QUAYSIDE_ACME_DIRECTORY: 'local' }
    server = await startServer({ env })
    const file = join(server.dataDirectory, 'authority.pem')
    const root = await until('the root is in its file', () => readFile(file, 'utf8').catch(() => undefined))
    assert.equal((await stat(file)).mode & 0o777, 0o644)
    client = secureClient({ port: tlsPort, root })
  },
  { timeout: 120_000 },
)
after(async () => {
  client?.close()
  await server?.close()
})

test('the platform and a service answer at names below localhost with certificates of one root', async () => {
  const ask = async (name: string, path = '/') => (await client.ask(name, { path }).catch(() => undefined))?.status
  await until('the API answers', async () => (await ask('quayside.localhost', '/health/ready')) === 200)
  const [row] = await server.sql<{ host: string }[]>`
    select host from route where public_port is null and endpoints <> '[]' limit 1`
  assert.ok(row)
  await until('the example answers', async () => (await ask(row.host)) === 200, { seen: () => server.output.slice(-5) })
})
