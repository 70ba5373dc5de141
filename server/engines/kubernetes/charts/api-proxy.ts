import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Secret } from '../../../lib/secret.ts'
import type { Kube, KubeTarget } from '../client/index.ts'
import { deletesClaim } from './keep-volumes.ts'

/** The API server of a cluster on a port of this machine, for one call of a program. */
export interface ApiProxy extends AsyncDisposable {
  /** Its address. The path is random, and a secret. */
  readonly url: Secret
  /** A name of the address, under which the program may keep what it learns of the cluster. */
  readonly name: string
}

/** Headers that concern one connection. */
const ofConnection = ['host', 'connection', 'authorization', 'upgrade', 'keep-alive', 'transfer-encoding', 'te']

/** The rights of one call. */
export interface ProxyRights {
  /** The token of an account that acts instead of the platform's own. */
  readonly token?: Secret | undefined
  /** The release in Helm, whose records the platform's own account reads and writes. */
  readonly release: { readonly namespace: string; readonly name: string }
  /** Whether claims of volumes stay: the program learns that they are already gone. */
  readonly keepsVolumes?: boolean
}

/** Addresses that wait for their next call. Others are closed. */
const mostIdle = 2

interface Door extends ApiProxy {
  rights: ProxyRights | undefined
  readonly server: Server
}

/**
 * Opens the API server to a program that knows the address. The program gets no credential: the
 * proxy adds it, and connects only where the client of the cluster may. An address serves one call
 * at a time, and another one later: the program keeps descriptions of the cluster by its address.
 */
export function createApiProxies(kube: Pick<Kube, 'target'>) {
  const idle: Door[] = []
  const giveBack = async (door: Door): Promise<void> => {
    door.rights = undefined
    door.server.closeAllConnections()
    if (idle.length < mostIdle) idle.push(door)
    else await door[Symbol.asyncDispose]()
  }
  return {
    async open(rights: ProxyRights): Promise<ApiProxy> {
      const door = idle.pop() ?? (await openDoor(kube))
      door.rights = rights
      return { url: door.url, name: door.name, [Symbol.asyncDispose]: () => giveBack(door) }
    },
  }
}

async function openDoor(kube: Pick<Kube, 'target'>): Promise<Door> {
  const path = `/${randomBytes(24).toString('hex')}`
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const server = createServer((asked, answer) => {
    const rest = asked.url?.startsWith(`${path}/`) ? asked.url.slice(path.length) : undefined
    if (rest === undefined || !door.rights) return void answer.writeHead(404).end()
    const { token, release, keepsVolumes } = door.rights
    if (keepsVolumes && deletesClaim(rest, asked.method)) return absent(asked, answer, 'the claim is kept')
    const acting = isRecord(rest, asked.method ?? 'GET', release) ? undefined : token
    kube.target().then(
      (target) => forward({ target, agent, token: acting, path: rest }, asked, answer),
      () => answer.writeHead(502).end(),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // An address that waits keeps no process alive. A call does.
  server.unref()
  // It listens on TCP, so its address is an object.
  const { port } = server.address() as AddressInfo
  const door: Door = {
    ...{ url: new Secret(`http://127.0.0.1:${port}${path}`), name: `${port}`, rights: undefined, server },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      agent.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return door
}

/**
 * Whether a request reads or changes records of a release, which Helm keeps in Secrets. The account
 * of a chart may not list Secrets, and records are the only ones of which Helm does not know the
 * names. Pure.
 */
export function isRecord(text: string, method: string, { namespace, name }: ProxyRights['release']): boolean {
  const asked = URL.parse(text, 'http://localhost')
  const secrets = `/api/v1/namespaces/${namespace}/secrets`
  // The API server must read the path as we do.
  if (!asked || asked.pathname !== text.split('?', 1)[0]) return false
  const record = `${secrets}/sh.helm.release.v1.${name}.v`
  if (asked.pathname.startsWith(record)) return /^[0-9]{1,9}$/.test(asked.pathname.slice(record.length))
  const [selector, ...others] = asked.searchParams.getAll('labelSelector')
  const labels = selector?.split(',') ?? []
  const isOwn = others.length === 0 && labels.includes('owner=helm') && labels.includes(`name=${name}`)
  return method === 'GET' && asked.pathname === secrets && isOwn
}

/** Whether a request reads one Secret by its name. */
const isOneSecret = (text: string, method: string | undefined): boolean =>
  method === 'GET' && /^\/api\/v1\/namespaces\/[^/?]+\/secrets\/[^/?]+(?:\?|$)/.test(text)

function absent(got: IncomingMessage, answer: ServerResponse, message: string): void {
  got.resume()
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound', message }
  answer.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(status))
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
      // Secrets that are not of the chart do not exist for it. Templates look up whether their own
      // one exists already.
      if (token && got.statusCode === 403 && isOneSecret(path, asked.method))
        return absent(got, answer, 'the chart has no such Secret')
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
