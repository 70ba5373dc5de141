import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** Facts about a client's connection that a program in front of the router reports. */
export interface ConnectionFacts {
  /** The address of the client, as the program wrote it. */
  readonly address: string
  /** Whether the client's connection is encrypted. */
  readonly isSecure: boolean
  /** The server name of its handshake. Empty without one. */
  readonly serverName: string
}

const reported = new WeakMap<object, ConnectionFacts>()

/** Records the facts about a connection. They replace what the socket says about itself. */
export const reportConnection = (socket: Socket, facts: ConnectionFacts): void => void reported.set(socket, facts)

/** Whether HAProxy in front of the router has accepted the connection of the client. */
export const isBehindHaproxy = (socket: Socket): boolean => reported.has(socket)

/** Returns the address of the other end of a connection, as it is written there. */
export const rawAddressOf = (socket: Pick<Socket, 'remoteAddress'>): string =>
  reported.get(socket)?.address ?? socket.remoteAddress ?? ''

export const isSecureConnection = (socket: Socket): boolean =>
  reported.get(socket)?.isSecure ?? socket instanceof TLSSocket

/** Returns the server name of the handshake, as the client sent it. Empty without one. */
export function serverNameOf(socket: Socket & { readonly servername?: string | false | null }): string {
  // Node.js sets the name that the client sent. Its types have it on clients only.
  return reported.get(socket)?.serverName ?? (socket.servername || '')
}
