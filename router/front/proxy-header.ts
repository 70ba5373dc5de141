import type { ConnectionFacts } from '../connection-facts.ts'

/** The first bytes of a header of the PROXY protocol, version 2. */
const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const fixedBytes = 16
/** Longer headers are refused. HAProxy sends some hundred bytes. */
const mostBytes = 2_048
const sslType = 0x20
const authorityType = 0x02

/** The result of reading a header: its facts and its length, or that more bytes are needed. */
export type ProxyHeader =
  | { readonly state: 'complete'; readonly facts: ConnectionFacts; readonly bytes: number }
  | { readonly state: 'partial' }
  | { readonly state: 'invalid' }

/**
 * Reads a header of the PROXY protocol, version 2, from the beginning of a connection. The command
 * must be PROXY, and the addresses must be of IPv4 or IPv6.
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const known = Math.min(bytes.length, signature.length)
  if (bytes.compare(signature, 0, known, 0, known) !== 0) return { state: 'invalid' }
  if (bytes.length < fixedBytes) return { state: 'partial' }
  const size = fixedBytes + bytes.readUInt16BE(14)
  if (bytes[12] !== 0x21 || size > mostBytes) return { state: 'invalid' }
  if (bytes.length < size) return { state: 'partial' }
  const address = addressIn(bytes.subarray(fixedBytes, size), bytes[13] ?? 0)
  if (!address) return { state: 'invalid' }
  const extras = extrasOf(bytes.subarray(fixedBytes + address.bytes, size))
  return { state: 'complete', facts: { address: address.text, ...extras }, bytes: size }
}

interface Address {
  readonly text: string
  /** The length of both addresses and ports. */
  readonly bytes: number
}

function addressIn(body: Buffer, family: number): Address | undefined {
  if (family === 0x11 && body.length >= 12) return { text: body.subarray(0, 4).join('.'), bytes: 12 }
  if (family !== 0x21 || body.length < 36) return undefined
  const groups = Array.from({ length: 8 }, (_, index) => body.readUInt16BE(index * 2).toString(16))
  return { text: groups.join(':').replace(/^0:0:0:0:0:ffff:/, '::ffff:'), bytes: 36 }
}

/** Reads the optional part: whether the client uses TLS, and its server name. */
function extrasOf(body: Buffer): Pick<ConnectionFacts, 'isSecure' | 'serverName'> {
  let [isSecure, serverName] = [false, '']
  for (let at = 0; at + 3 <= body.length; ) {
    const end = at + 3 + body.readUInt16BE(at + 1)
    const value = body.subarray(at + 3, end)
    if (body[at] === sslType) isSecure = ((value[0] ?? 0) & 1) === 1
    if (body[at] === authorityType) serverName = value.toString('latin1')
    at = end
  }
  return { isSecure, serverName }
}
