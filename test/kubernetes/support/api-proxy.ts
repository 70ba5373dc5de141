import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, createServer, request } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { KubeAccess } from '../../../server/engines/kubernetes/client/index.ts'
import { Secret } from '../../../server/lib/secret.ts'
import { pki, ports } from '../cluster/settings.ts'
import { adminAccess } from './access.ts'

/** Answers a request in place of the API server, or changes its answer by `pass`. */
export type Fault = (request: ApiRequest, response: ServerResponse, pass: Pass) => void

/** Asks the API server. `edit` changes each event of a watch, or drops it by returning nothing. */
export type Pass = (edit?: (event: WatchedEvent) => WatchedEvent | undefined) => void

/** An event of a watch, as JSON. */
export interface WatchedEvent {
  readonly type: string
  // The kinds differ, and a test knows which one it changes.
  readonly object: Record<string, never>
}

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly isWatch: boolean
  readonly token: string | undefined
}

/** A proxy in front of the real API server, whose answers a test decides. */
export interface ApiProxy {
  readonly port: number
  /** Requests that came, in order. */
  readonly requests: readonly ApiRequest[]
  /** Every request is answered by this from now on. Undefined: by the API server. */
  answerWith(fault: Fault | undefined): void
  /** Cuts the answers of all watches, in the middle of an object. */
  cutWatches(): void
  /** Commands that begin from now on are cut after so many bytes. Undefined: they are not. */
  cutCommands(afterBytes: number | undefined): void
  /** The number of open connections. */
  openConnections(): Promise<number>
  /** Reaches the proxy as an administrator. */
  access(): Promise<KubeAccess>
  /** A kubeconfig of an administrator whose server is the proxy. `token` is what the user sends. */
  kubeconfig(token?: string): Promise<string>
  close(): Promise<void>
}

/**
 * Starts the proxy. It sends requests with a token on with it, and others as an administrator.
 */
export async function startApiProxy(): Promise<ApiProxy> {
  const read = (name: string) => readFile(join(pki, name))
  const [cert, key, ca, clientCert, clientKey] = await Promise.all(
    ['apiserver.crt', 'apiserver.key', 'ca.crt', 'admin.crt', 'admin.key'].map(read),
  )
  const target = { host: '127.0.0.1', port: ports.api, ca, servername: 'localhost' }
  const admin = { ...target, cert: clientCert, key: clientKey }
  const agent = new Agent({ keepAlive: true })
  const requests: ApiRequest[] = []
  const watches = new Set<ServerResponse>()
  let fault: Fault | undefined
  let commandBytes: number | undefined

  const forward = (asked: IncomingMessage, response: ServerResponse, edit: Parameters<Pass>[0]): void => {
    const { method, url: path, headers } = asked
    const credentials = headers.authorization ? target : admin
    const sent = request({ ...credentials, agent, method, path, headers: { ...headers, host: 'localhost' } })
    sent.on('response', (answer) => {
      // The test has cut it meanwhile.
      if (response.headersSent) return void answer.destroy()
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      if (edit && answer.statusCode === 200) editLines(answer, response, edit)
      else answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    sent.on('error', () => response.destroy())
    response.on('close', () => sent.destroy())
    asked.pipe(sent)
  }
  const server = createServer({ cert, key }, (asked, response) => {
    const path = asked.url ?? ''
    const isWatch = path.includes('watch=true')
    const token = asked.headers.authorization?.slice('Bearer '.length)
    const described = { method: asked.method ?? 'GET', path, isWatch, token }
    requests.push(described)
    response.on('error', () => {})
    if (isWatch) {
      watches.add(response)
      response.on('close', () => watches.delete(response))
    }
    const pass: Pass = (edit) => forward(asked, response, edit)
    if (fault) fault(described, response, pass)
    else pass()
  })
  server.on('upgrade', (asked: IncomingMessage, socket: Socket, head: Buffer) => {
    const there = connect(asked.headers.authorization ? target : admin, () => {
      const lines = asked.rawHeaders.flatMap((name, index, all) => (index % 2 ? [] : `${name}: ${all[index + 1]}`))
      there.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
      there.write(head)
      if (commandBytes !== undefined) cutAfter(commandBytes, socket, there)
      there.pipe(socket).pipe(there)
    })
    there.on('error', () => socket.destroy())
    socket.on('error', () => there.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // The server listens on TCP, so its address is an object.
  const { port } = server.address() as AddressInfo
  const access = async (): Promise<KubeAccess> => {
    const { authority } = await adminAccess()
    return { server: `https://127.0.0.1:${port}`, authority, certificate: String(clientCert), key: secretOf(clientKey) }
  }
  return {
    port,
    requests,
    answerWith: (next) => {
      fault = next
    },
    cutWatches: () => {
      for (const response of watches) {
        response.write('{"type":"MODIFIED","object":{"meta')
        setImmediate(() => response.socket?.destroy())
      }
    },
    cutCommands: (afterBytes) => {
      commandBytes = afterBytes
    },
    openConnections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    access,
    kubeconfig: async (token) => {
      const user = token
        ? { token }
        : {
            'client-certificate-data': clientCert?.toString('base64'),
            'client-key-data': clientKey?.toString('base64'),
          }
      const cluster = {
        server: `https://127.0.0.1:${port}`,
        'certificate-authority-data': ca?.toString('base64'),
      }
      return JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'test', cluster }],
        users: [{ name: 'test', user }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
        'current-context': 'test',
      })
    },
    close: async () => {
      server.close().closeAllConnections()
      agent.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}

const secretOf = (bytes: Buffer | undefined): Secret => new Secret(String(bytes))

/** Cuts both ends once so many bytes have passed. */
function cutAfter(mostBytes: number, ...ends: readonly Duplex[]): void {
  let bytes = 0
  for (const end of ends) {
    end.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > mostBytes) for (const one of ends) one.destroy()
    })
  }
}

/** Changes the events of a watch, one a line. */
function editLines(answer: IncomingMessage, response: ServerResponse, edit: NonNullable<Parameters<Pass>[0]>): void {
  let rest = ''
  answer.setEncoding('utf8')
  answer.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const changed = edit(JSON.parse(line))
      if (changed) response.write(`${JSON.stringify(changed)}\n`)
    }
  })
  answer.on('end', () => response.end())
}

/** Answers with a status of Kubernetes. */
export const refuse =
  (code: number, reason: string, headers: Record<string, string> = {}): Fault =>
  (_, response) => {
    const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `${reason} by the test` }
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

/** Applies a fault to some requests only. */
export const only =
  (isMeant: (request: ApiRequest) => boolean, fault: Fault): Fault =>
  (request, response, pass) =>
    isMeant(request) ? fault(request, response, pass) : pass()
