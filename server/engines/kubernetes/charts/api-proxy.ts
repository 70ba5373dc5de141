import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Secret } from '../../../lib/secret.ts'
import type { Kube, KubeTarget } from '../client/index.ts'
import { pullSecretName } from '../pull-secret.ts'

/** The API server of a cluster on a port of this machine, for one call of a program. */
export interface ApiProxy extends AsyncDisposable {
  /** Its address. The path is random, and a secret. */
  readonly url: Secret
}

/** Headers that concern one connection. */
const ofConnection = ['host', 'connection', 'authorization', 'upgrade', 'keep-alive', 'transfer-encoding', 'te']

export interface ApiProxyOptions {
  readonly kube: Pick<Kube, 'target'>
  /** The token of an account that acts instead of the platform's own. */
  readonly token?: Secret | undefined
}

/**
 * Opens the API server to a program that knows the address. The program gets no credential: the
 * proxy adds it, and connects only where the client of the cluster may.
 */
export async function openApiProxy({ kube, token }: ApiProxyOptions): Promise<ApiProxy> {
  const path = `/${randomBytes(24).toString('hex')}`
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const server = createServer((asked, answer) => {
    const rest = asked.url?.startsWith(`${path}/`) ? asked.url.slice(path.length) : undefined
    if (rest === undefined || isKept(rest, asked.method ?? 'GET', token !== undefined)) {
      return void answer.writeHead(rest === undefined ? 404 : 403, { 'content-type': 'application/json' }).end(refused)
    }
    kube.target().then(
      (target) => forward({ target, agent, token, path: rest }, asked, answer),
      () => answer.writeHead(502).end(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // It listens on TCP, so its address is an object.
  const { port } = server.address() as AddressInfo
  return {
    url: new Secret(`http://127.0.0.1:${port}${path}`),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const refused = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code: 403,
  reason: 'Forbidden',
  message: 'charts may not read the credentials of the platform',
})

/**
 * Whether a request would read the credentials with which nodes take images. Lists of Secrets are
 * allowed for the records of Helm only.
 */
function isKept(text: string, method: string, isLimited: boolean): boolean {
  if (!isLimited) return false
  const asked = URL.parse(text, 'http://localhost')
  // Helm sends no such address.
  if (!asked || /%(?![0-9a-f]{2})|%[89a-f]/i.test(asked.pathname)) return true
  const { pathname, searchParams } = asked
  const path = decodeURIComponent(pathname)
  if (path.endsWith(`/secrets/${pullSecretName}`)) return true
  const isList = method === 'GET' && path.endsWith('/secrets')
  return isList && !(searchParams.get('labelSelector') ?? '').split(',').includes('owner=helm')
}

interface Forwarding {
  readonly target: KubeTarget
  readonly agent: Agent
  readonly token: Secret | undefined
  readonly path: string
}

function forward({ target, agent, token, path }: Forwarding, asked: IncomingMessage, answer: ServerResponse): void {
  const { url, tls, headers: own } = target
  const { cert: _, key: __, ...anonymous } = tls
  const kept = Object.entries(asked.headers).filter(([name]) => !ofConnection.includes(name))
  const sent = request(
    {
      ...(token ? anonymous : tls),
      agent,
      method: asked.method,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || 443,
      path: `${url.pathname.replace(/\/$/, '')}${path}`,
      headers: { ...Object.fromEntries(kept), ...(token ? { authorization: `Bearer ${token.reveal()}` } : own) },
    },
    (got) => {
      const { connection: _, 'transfer-encoding': __, 'keep-alive': ___, ...headers } = got.headers
      answer.writeHead(got.statusCode ?? 502, headers)
      got.on('error', () => answer.destroy())
      got.pipe(answer)
    },
  )
  sent.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()))
  answer.on('close', () => sent.destroy())
  asked.pipe(sent)
}
