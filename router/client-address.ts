import type { Socket } from 'node:net'
import { plainAddress } from '@quayside/contract/forwarded.ts'
import type { Peer } from './sender.ts'
import type { Traffic } from './traffic.ts'

/** The address of the other end of a connection, in its short spelling. */
export const addressOf = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string =>
  plainAddress(remoteAddress) ?? '0.0.0.0'

const peers = new WeakMap<Socket, Peer>()

/** Returns the other end of a client's connection. It is looked at once for each connection, not for each request. */
export function peerOf({ trusts, port }: Pick<Traffic, 'trusts' | 'port'>, socket: Socket): Peer {
  const known = peers.get(socket)
  if (known) return known
  const address = addressOf(socket)
  const peer = { address, port, trusts: trusts(address) ? trusts : undefined }
  peers.set(socket, peer)
  return peer
}
