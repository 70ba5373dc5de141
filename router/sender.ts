import { forwardedChain } from '@quayside/contract/forwarded.ts'
import { hostOf } from './host-of.ts'

/** The other end of a client's connection. */
export interface Peer {
  readonly address: string
  /** The router's own port. */
  readonly port: string
  /** Whether the connection is encrypted. */
  readonly isSecure: boolean
  /** Which addresses are trusted proxies. Undefined if the peer itself is not one. */
  readonly trusts: ((address: string) => boolean) | undefined
}

/**
 * The sender's details from a trusted peer. Only the last value of each header counts, because the
 * peer itself wrote it.
 */
export interface Forwarded {
  forwardedFor: string
  proto: string
  host: string
  port: string
}

const vouched = new Map<string, keyof Forwarded>([
  ['x-forwarded-for', 'forwardedFor'],
  ['x-forwarded-proto', 'proto'],
  ['x-forwarded-host', 'host'],
  ['x-forwarded-port', 'port'],
])

/** Whether a header names the sender. Endpoints get it only from the router or a trusted proxy. */
export const isSenderName = (lower: string): boolean => lower.startsWith('x-forwarded-')

/** Records a header of a trusted peer. Returns whether the header is forwarded unchanged. */
export function noteForwarded(said: Forwarded, lower: string, value: string): boolean {
  const member = vouched.get(lower)
  if (member === undefined) return true
  if (member === 'forwardedFor') said.forwardedFor += said.forwardedFor === '' ? value : `, ${value}`
  else said[member] = value.slice(value.lastIndexOf(',') + 1).trim()
  return false
}

/** The client of a request, seen through trusted proxies. */
export interface Sender {
  readonly client: string
  /** Whether the client used HTTPS. */
  readonly isSecure: boolean
}

/** Adds the headers that name the sender of a request. */
export function addSender(headers: string[], host: string, peer: Peer, said: Forwarded): Sender {
  const { trusts } = peer
  if (!trusts) {
    const { address: client, isSecure } = peer
    headers.push('X-Forwarded-For', client, 'X-Forwarded-Proto', isSecure ? 'https' : 'http', 'X-Forwarded-Host', host)
    headers.push('X-Forwarded-Port', peer.port, 'X-Real-IP', client)
    return { client, isSecure }
  }
  const chain = forwardedChain(peer.address, said.forwardedFor, trusts)
  const client = chain[0] ?? peer.address
  const proto = said.proto.toLowerCase()
  const isSecure = proto === '' ? peer.isSecure : proto === 'https' || proto === 'wss'
  headers.push('X-Forwarded-For', chain.join(', '), 'X-Forwarded-Proto', isSecure ? 'https' : 'http')
  headers.push('X-Forwarded-Host', hostOf(said.host) === undefined ? host : said.host)
  headers.push('X-Forwarded-Port', portOf(said, isSecure) ?? peer.port, 'X-Real-IP', client)
  return { client, isSecure }
}

/** Returns the port of the proxy. If it names only the protocol, that is the usual port. */
function portOf({ port, proto }: Forwarded, isSecure: boolean): string | undefined {
  if (/^\d{1,5}$/.test(port)) return port
  if (proto === '') return undefined
  return isSecure ? '443' : '80'
}
