import { type ClientRequestArgs, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { proxyHeaderOf } from '../../support/proxy-header.ts'
import { addresses } from '../cluster/settings.ts'

/** A request over a connection of its own, as a load balancer in front of the routers sends it. */
export interface ProxiedRequest {
  readonly name: string
  readonly port: number
  /** The client that the PROXY header names. Undefined: the connection has no header. */
  readonly client?: string
  /** The root of the certificate. Undefined: the request is plain HTTP. */
  readonly root?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Connects to the node, and sends the PROXY header. */
export function connectThroughProxy({ port, client }: Pick<ProxiedRequest, 'port' | 'client'>): Socket {
  const socket = connect(port, addresses.node)
  if (client !== undefined) socket.write(proxyHeaderOf(client))
  return socket
}

/** Sends a request to the routers at the node. Rejects if the connection ends without an answer. */
export function askThroughProxy(asked: ProxiedRequest): Promise<{ readonly status: number; readonly body: string }> {
  const { name, root, path = '/', headers = {} } = asked
  const below = connectThroughProxy(asked)
  const open = (): Socket =>
    root === undefined ? below : connectTls({ socket: below, servername: name, ca: root, ALPNProtocols: ['http/1.1'] })
  const options: ClientRequestArgs = {
    path,
    headers: { host: name, ...headers },
    createConnection: open,
    signal: AbortSignal.timeout(20_000),
  }
  return new Promise((resolve, reject) => {
    below.on('error', reject)
    const sent = request(options, (answer: IncomingMessage) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
    })
    sent.on('error', reject).end()
  })
}
