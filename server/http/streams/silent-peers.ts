import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

/**
 * Finds connections whose other end is gone without a word: what was sent is not acknowledged, again and again. The kernel itself
 * gives up after a quarter of an hour only. Where it does not tell (it is no Linux), nothing is found and that holds.
 */
export interface SilentPeers {
  /** Undefined: none is silent. */
  look(): Promise<((socket: Socket) => boolean) | undefined>
}

/** Sent again so often, each time after twice the pause: 12 seconds at least. */
const mostRetries = 6

export const createSilentPeers = (): SilentPeers => ({
  async look() {
    const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
    const silent = new Set(tables.flatMap(silentIn))
    if (silent.size === 0) return undefined
    return ({ localPort, remoteAddress, remotePort }) =>
      silent.has(peerName(localPort ?? 0, remoteAddress ?? '', remotePort ?? 0))
  },
})

const readTable = (path: string): Promise<string> => readFile(path, 'latin1').catch(() => '')
const peerName = (localPort: number, address: string, port: number): string =>
  `${localPort} ${address.replace(/^::ffff:(?=\d+\.)/i, '')} ${port}`

/** Columns: number, local address, remote address, state, queues, timer (01: sends again), retries … */
const row =
  /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} [0-9A-F]+:[0-9A-F]+ 01:[0-9A-F]+ ([0-9A-F]{8})/

/** Pure: the names of those peers in a table of the kernel that do not acknowledge. */
export function silentIn(table: string): string[] {
  return table.split('\n').flatMap((line) => {
    const [, localPort, address, port, retries] = row.exec(line) ?? []
    if (!localPort || !address || !port || Number.parseInt(retries ?? '', 16) < mostRetries) return []
    return [peerName(Number.parseInt(localPort, 16), addressOf(address), Number.parseInt(port, 16))]
  })
}

/** The kernel prints each group of four bytes as a number, lowest byte last. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()])
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff) return bytes.slice(12).join('.')
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  )
  return URL.parse(`http://[${groups.join(':')}]`)?.hostname.slice(1, -1) ?? hex
}
