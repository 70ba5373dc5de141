import { isIP, SocketAddress } from 'node:net'
import { plainAddress } from '@quayside/contract/forwarded.ts'

/** The PROXY header at the beginning of a connection. */
export interface ProxyHeader {
  /** The address of the client. Undefined: the proxy speaks for itself, as in its checks. */
  readonly client: string | undefined
  /** The length of the header. */
  readonly bytes: number
  /** The part of version 2 after the addresses, if any: each with a type, a length and a value. */
  readonly details?: Buffer
}

/** 'more' if the header is not complete, 'invalid' if these bytes begin no header. */
export type ProxyReading = ProxyHeader | 'more' | 'invalid'

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const word = Buffer.from('PROXY ')
/** With its end, as https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt limits it. */
const longestLine = 107
/** Addresses of unix sockets have 216 bytes. Details of TLS follow them. */
const mostBytes = 2048

/**
 * Reads the PROXY header of version 1 or 2 from the first bytes of a connection. Takes constant
 * time and memory.
 */
export function readProxyHeader(first: Buffer): ProxyReading {
  if (begins(first, signature)) return first.length < 16 ? 'more' : binaryHeader(first)
  if (begins(first, word)) return first.length < word.length ? 'more' : textHeader(first)
  return 'invalid'
}

/** Whether the bytes equal `start`, up to its length. */
const begins = (first: Buffer, start: Buffer): boolean => {
  const known = first.subarray(0, start.length)
  return start.subarray(0, known.length).equals(known)
}

function textHeader(first: Buffer): ProxyReading {
  const end = first.subarray(0, longestLine).indexOf('\r\n')
  if (end === -1) return first.length >= longestLine ? 'invalid' : 'more'
  const [, family, source = '', target = '', from = '', to = '', ...more] = first.toString('latin1', 0, end).split(' ')
  const bytes = end + 2
  if (family === 'UNKNOWN') return { client: undefined, bytes }
  const version = family === 'TCP4' ? 4 : family === 'TCP6' ? 6 : 0
  const isWhole = isIP(source) === version && isIP(target) === version && isPort(from) && isPort(to)
  return version !== 0 && isWhole && more.length === 0 ? { client: plainAddress(source), bytes } : 'invalid'
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65_535

function binaryHeader(first: Buffer): ProxyReading {
  const [command = 0, family = 0, bytes] = [first[12], first[13], 16 + first.readUInt16BE(14)]
  if (command >> 4 !== 2 || (command & 15) > 1 || bytes > mostBytes) return 'invalid'
  if (first.length < bytes) return 'more'
  if ((command & 15) === 0) return { client: undefined, bytes }
  const block = first.subarray(16, bytes)
  switch (family) {
    case 0x11:
      return block.length < 12
        ? 'invalid'
        : { client: [...block.subarray(0, 4)].join('.'), bytes, ...detailsAfter(block, 12) }
    case 0x21:
      return block.length < 36 ? 'invalid' : { client: ipv6(block), bytes, ...detailsAfter(block, 36) }
    default:
      // Other families name no client.
      return { client: undefined, bytes }
  }
}

const detailsAfter = (block: Buffer, addresses: number) =>
  block.length > addresses && { details: block.subarray(addresses) }

function ipv6(block: Buffer): string | undefined {
  const groups = Array.from({ length: 8 }, (_, index) => block.readUInt16BE(index * 2).toString(16))
  return plainAddress(new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address)
}
