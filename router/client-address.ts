import type { Socket } from 'node:net'
import { plainAddress } from '@quayside/contract/forwarded.ts'
import { isSecureConnection, rawAddressOf } from './connection-facts.ts'
import type { Peer } from './sender.ts'
import type { Traffic } from './traffic.ts'

/** The clients that trusted proxies named, by their connections. */
const named = new WeakMap<object, string>()

/** Records the client of a connection that a trusted proxy opened for it. */
export const nameClient = (socket: Socket, client: string): void => void named.set(socket, client)

/** Returns the address of the client of a connection, in its short form. */
export const addressOf = (socket: Pick<Socket, 'remoteAddress'>): string =>
  named.get(socket) ?? plainAddress(rawAddressOf(socket)) ?? '0.0.0.0'

const peers = new WeakMap<Socket, Peer>()

/**
 * Returns the other end of a client's connection. It is computed once a connection, not once a
 * request.
 */
export function peerOf({ trusts, port, tlsPort }: Pick<Traffic, 'trusts' | 'port' | 'tlsPort'>, socket: Socket): Peer {
  const known = peers.get(socket)
  if (known) return known
  const address = addressOf(socket)
  const isSecure = isSecureConnection(socket)
  const peer = { address, isSecure, port: isSecure ? tlsPort : port, trusts: trusts(address) ? trusts : undefined }
  peers.set(socket, peer)
  return peer
}
