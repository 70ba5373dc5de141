import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createPlainServer, type Server as HttpServer } from 'node:http'
import { createServer, type Server as HttpsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { test } from 'node:test'
import { selfSigned } from '../../../../test/support/self-signed.ts'
import { createAddressGuard } from '../../../lib/address.ts'
import { run } from '../../../lib/run.ts'
import { Secret } from '../../../lib/secret.ts'
import { createKube, kinds } from './index.ts'

// The address of an API server was checked. Nothing may lead the client, and its token, elsewhere.

const { signal } = new AbortController()
const place = { namespace: 'n', name: 'p' }
const container = { namespace: 'n', pod: 'p', container: 'c' }
const streams = { hasTerminal: false, hasInput: false }
const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })

async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // It listens on TCP, so its address is an object.
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a server that notes what reaches it. */
async function startElsewhere(
  t: { after(work: () => void): void },
  server: HttpServer | HttpsServer = createServer(selfSigned),
) {
  const reached: string[] = []
  server.on('request', (request, response) => {
    reached.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  for (const event of ['upgrade', 'connect']) {
    server.on(event, (request, socket) => {
      reached.push(`${event} ${request.url}`)
      socket.destroy()
    })
  }
  t.after(() => server.close().closeAllConnections())
  return { reached, address: await listen(server) }
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect with status ${status} is followed by no request, watch, command or port`, async (t) => {
    const { reached, address } = await startElsewhere(t)
    const location = `https://${address}/latest/meta-data`
    const api = createServer(selfSigned, (_, response) => response.writeHead(status, { location }).end())
    api.on('upgrade', (_, socket) => socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\n\r\n`))
    const server = `https://${await listen(api)}`
    const token = new Secret('canary')
    const access = async () => ({ server, authority: selfSigned.cert, serverName: 'outside.invalid', token })
    const kube = createKube({ access, guard })
    t.after(() => {
      kube.close()
      api.close().closeAllConnections()
    })
    const refused = { status, reason: `Status${status}` }
    await assert.rejects(kube.list(kinds.pod, {}, signal), refused)
    await assert.rejects(kube.get(kinds.pod, place, signal), refused)
    await assert.rejects(kube.watch(kinds.pod, {}, signal).next(), refused)
    await assert.rejects(kube.exec(container, ['true'], streams, signal), refused)
    await assert.rejects(kube.portForward(container, 80, signal), refused)
    assert.deepEqual(reached, [])
  })
}

const program = `
  import { createKube, kinds } from ${JSON.stringify(import.meta.resolve('./index.ts'))}
  import { createAddressGuard } from ${JSON.stringify(import.meta.resolve('../../../lib/address.ts'))}
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })
  const kube = createKube({ access: async () => JSON.parse(process.env.ACCESS), guard })
  const signal = AbortSignal.timeout(20_000)
  const { items } = await kube.list(kinds.pod, {}, signal)
  const refusal = await kube.exec(${JSON.stringify(container)}, ['true'], ${JSON.stringify(streams)}, signal)
    .catch(({ status }) => status)
  console.log(items.length, refusal)
  kube.close()`

test('a proxy of the environment gets no request and no command', async (t) => {
  const { reached, address } = await startElsewhere(t, createPlainServer())
  const api = createServer(selfSigned, (_, response) => response.end('{"items":[],"metadata":{}}'))
  api.on('upgrade', (_, socket) => socket.end('HTTP/1.1 418 Reached\r\n\r\n'))
  t.after(() => api.close().closeAllConnections())
  const server = `https://${await listen(api)}`
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']
  const env = {
    ...Object.fromEntries(names.map((name) => [name, `http://${address}`])),
    // Node.js itself uses these variables then.
    NODE_USE_ENV_PROXY: '1',
    ACCESS: JSON.stringify({ server, authority: selfSigned.cert, serverName: 'outside.invalid' }),
  }
  const args = ['--input-type=module', '--eval', program]
  const { stdout, stderr } = await run(process.execPath, args, { env, timeoutMs: 60_000 })
  assert.equal(String(stdout).trim(), '0 418', stderr)
  assert.deepEqual(reached, [])
})
