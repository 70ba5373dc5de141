import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { connect, type Server as NetServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import type { Route } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import { until } from '../test/support/until.ts'
import type { RouterConfig } from './config.ts'
import { type Log, silentLog } from './log.ts'
import { type RunningRouter, startRouter } from './router.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly trailers: NodeJS.Dict<string>
  readonly body: string
}

export interface Ask {
  readonly host?: string
  readonly path?: string
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
  readonly agent?: Agent
}

/** A router in this process with its own folder and applications. Ends with the test. */
export interface TestBed {
  readonly router: RunningRouter
  readonly control: string
  readonly state: string
  /** Starts an application. Returns its server, whose port is `portOf(server)`. */
  application(listener: RequestListener, port?: number): Promise<Server>
  /** Routes `app.localhost` (or another host) to these ports. Replaces the previous table. */
  lead(ports: readonly number[], route?: Partial<Route>, people?: PeopleLists): Promise<void>
  ask(options?: Ask): Promise<Answer>
  /** Opens a raw connection to the router and sends these bytes. */
  raw(bytes: string): Socket
  tell(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
}

/**
 * How the beds of a file are made. `haproxy` names the program in front of their routers. A bed
 * waits until it serves: from the beginning, or with TLS after each exchange of certificates.
 */
export const beds: { haproxy: string | undefined } = { haproxy: undefined }

/**
 * More bytes than the system holds between two ends of a connection. Linux takes 36 MiB at most,
 * with the largest buffers of TCP that are usual.
 */
export const moreThanBuffers = 128 * 1024 * 1024

interface TestLife {
  after(work: () => Promise<void>): void
}

interface BedOptions {
  /** The address of the router. By default `127.0.0.1`. */
  readonly host?: string
  readonly trusted?: readonly string[]
  readonly log?: Log
  /** Whether HAProxy may never serve, or only later. Then the bed does not wait for it. */
  readonly mayStandAlone?: boolean
  readonly http3?: boolean
}

export async function testBed(
  test: TestLife,
  options: Pick<RouterConfig, 'connections' | 'tlsPort' | 'publicPort' | 'publicTlsPort' | 'proxies'> & BedOptions = {},
): Promise<TestBed> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-router-'))
  const control = join(folder, 'run', 'control.sock')
  await mkdir(dirname(control))
  const state = join(folder, 'routes.json')
  const { trusted = [], connections = usualConnections } = options
  const tls = options.tlsPort === undefined ? {} : { tlsPort: options.tlsPort }
  const { proxies = [], publicPort, publicTlsPort } = options
  const publicPorts = {
    ...(publicPort !== undefined && { publicPort }),
    ...(publicTlsPort !== undefined && { publicTlsPort }),
  }
  const front = beds.haproxy === undefined ? {} : { haproxy: beds.haproxy, http3: options.http3 ?? false }
  const config = {
    host: options.host ?? '127.0.0.1',
    port: 0,
    ...tls,
    ...publicPorts,
    control,
    state,
    trusted,
    proxies,
    connections,
    ...front,
  }
  const hasHaproxy = front.haproxy !== undefined && !options.mayStandAlone
  const router = await startRouter(config, options.log ?? silentLog)
  const servers: Server[] = []
  const sockets: Socket[] = []
  let version = 0
  test.after(async () => {
    for (const socket of sockets) socket.destroy()
    for (const server of servers) server.close().closeAllConnections()
    await router.stop(0)
    await rm(folder, { recursive: true })
  })
  const tell: TestBed['tell'] = async (method, path, body) => {
    const answer = await send({ socketPath: control, method, path }, body === undefined ? '' : JSON.stringify(body))
    if (method === 'PUT' && path === '/tls' && hasHaproxy) await hasFront()
    return { status: answer.status, body: JSON.parse(answer.body) }
  }
  const hasFront = async (): Promise<void> => {
    await until('HAProxy serves', async () => 'haproxyPid' in (await tell('GET', '/health')).body)
  }
  if (hasHaproxy && options.tlsPort === undefined) await hasFront()
  return {
    router,
    control,
    state,
    tell,
    application: async (listener, port = 0) => {
      const server = createServer(listener)
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
      return server
    },
    lead: async (ports, route = {}, people = {}) => {
      const endpoints = ports.map((port) => ({ address: '127.0.0.1', port }))
      const routes = [{ host: 'app.localhost', service: 'service', name: 'shop', endpoints, ...route }]
      version++
      assert.equal((await tell('PUT', '/routes', { version, routes, people })).status, 200)
    },
    ask: ({ host = 'app.localhost', path = '/', method = 'GET', headers = {}, body = '', agent = new Agent() } = {}) =>
      send({ host: '127.0.0.1', port: router.port, path, method, headers: { host, ...headers }, agent }, body),
    raw: (bytes) => {
      const socket = connect(router.port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => socket.destroy())
      socket.write(bytes, 'latin1')
      return socket
    },
  }
}

export function portOf(server: NetServer): number {
  const bound = server.address()
  assert.ok(typeof bound === 'object' && bound)
  return bound.port
}

/** Returns the head of the response that a connection receives, then closes it. */
export async function headOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  await until('a head arrives', () => text.includes('\r\n\r\n'))
  socket.destroy()
  return text
}

/** Returns everything that a connection receives until it closes. */
export async function untilClosed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return text
}

export async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('latin1')
}

export function send(options: Parameters<typeof request>[1], body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options }, (message) => {
      textOf(message)
        .then((text) => {
          const { statusCode: status = 0, headers, rawHeaders, trailers } = message
          resolve({ status, headers, rawHeaders, trailers, body: text })
        })
        .catch(reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
