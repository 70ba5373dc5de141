import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { plainAddress } from '@quayside/contract/forwarded.ts'
import type { Peer } from './sender.ts'
import type { Traffic } from './traffic.ts'

/** Returns the address of the other end of a connection, in its short form. */
export const addressOf = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string =>
  plainAddress(remoteAddress) ?? '0.0.0.0'

const peers = new WeakMap<Socket, Peer>()

/**
 * Returns the other end of a client's connection. It is computed once a connection, not once a
 * request.
 */
export function peerOf({ trusts, port, tlsPort }: Pick<Traffic, 'trusts' | 'port' | 'tlsPort'>, socket: Socket): Peer {
  const known = peers.get(socket)
  if (known) return known
  const address = addressOf(socket)
  const isSecure = socket instanceof TLSSocket
  const peer = { address, isSecure, port: isSecure ? tlsPort : port, trusts: trusts(address) ? trusts : undefined }
  peers.set(socket, peer)
  return peer
}
