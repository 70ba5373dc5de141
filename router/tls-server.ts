import { constants } from 'node:crypto'
import { createServer, type Server } from 'node:https'
import { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { handshakeCallbacks, isChallenge } from './challenge-handshakes.ts'
import { addressOf, nameClient } from './client-address.ts'
import { limits } from './limits.ts'
import { Sessions } from './sessions.ts'
import type { Traffic } from './traffic.ts'
import { acceptTraffic, type Front, httpOptions } from './traffic-server.ts'

/** The intermediate profile of https://wiki.mozilla.org/Security/Server_Side_TLS. */
const profile = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
    ...['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ].join(':'),
  ecdhCurve: 'X25519:prime256v1:secp384r1',
  honorCipherOrder: false,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const

/**
 * Creates the HTTPS server in front of the applications. It has no certificate of its own, so a
 * client that sends no server name, or an unknown one, learns no other name. Not yet listening.
 */
export function createTlsServer(traffic: Traffic): Front<Server> {
  const server = createServer({
    ...httpOptions,
    ...profile,
    ...handshakeCallbacks(traffic.certificates),
    handshakeTimeout: limits.handshakeMs,
  })
  const accepted = new Map<string, Socket>()
  const below = new WeakMap<Socket, Socket>()
  server.on('connection', (socket) => {
    if (!(socket instanceof Socket)) return
    const ends = endsOf(socket)
    accepted.set(ends, socket)
    socket.once('close', () => accepted.delete(ends))
  })
  const acceptHttp1 = ownListener(server)
  server.on('secureConnection', (socket) => {
    const found = accepted.get(endsOf(socket))
    if (found) {
      below.set(socket, found)
      nameClient(socket, addressOf(found))
    }
    if (isChallenge(socket)) socket.destroy()
    else if (socket.alpnProtocol === 'h2') sessions.accept({ socket, below: found ?? socket, schemes: ['https'] })
    else acceptHttp1(socket)
  })
  server.on('tlsClientError', (_error, socket) => {
    traffic.counts.refused++
    socket.destroy()
  })
  const connections = acceptTraffic(traffic, server, (socket) => below.get(socket) ?? socket)
  const sessions = new Sessions(traffic, connections)
  return { server, connections, leave: () => sessions.leave() }
}

/** Takes the listener with which Node.js speaks HTTP/1.1 from a server, and returns it. */
function ownListener(server: Server): (socket: TLSSocket) => void {
  const [listener] = server.listeners('secureConnection')
  if (!listener) throw new Error('the HTTPS server of this version of Node.js has no listener for HTTP/1.1')
  server.removeAllListeners('secureConnection')
  return (socket) => void Reflect.apply(listener, server, [socket])
}

/** Both ends of a connection, which an encrypted socket and the one below it share. */
const endsOf = ({ localAddress, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${remoteAddress} ${remotePort}`
