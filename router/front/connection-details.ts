import type { ConnectionFacts } from '../connection-facts.ts'

const sslType = 0x20
const authorityType = 0x02

/**
 * Reads the details of a PROXY header: whether the client uses TLS, and the server name of its
 * handshake. A cut one counts as far as it goes.
 */
export function readDetails(details: Buffer): Pick<ConnectionFacts, 'isSecure' | 'serverName'> {
  let [isSecure, serverName] = [false, '']
  for (let at = 0; at + 3 <= details.length; ) {
    const end = at + 3 + details.readUInt16BE(at + 1)
    const value = details.subarray(at + 3, end)
    if (details[at] === sslType) isSecure = ((value[0] ?? 0) & 1) === 1
    if (details[at] === authorityType) serverName = value.toString('latin1')
    at = end
  }
  return { isSecure, serverName }
}
