import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { selfSigned } from './self-signed.ts'

/** Where a client connects, and the address of this machine from which it does. */
export interface Http2From {
  readonly host: string
  readonly port: number
  readonly localAddress: string
}

/**
 * Opens a connection of HTTP/2 to a host with the self-signed certificate. It ends with the test.
 */
export async function http2From(t: TestContext, { host, port, localAddress }: Http2From): Promise<ClientHttp2Session> {
  const below = connect({ host: '127.0.0.1', port, localAddress })
  const socket = connectTls({ socket: below, servername: host, ca: selfSigned.cert, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  const client = connectHttp2(`https://${host}`, { createConnection: () => socket })
  t.after(async () => client.destroy())
  client.on('error', () => {})
  return client
}
