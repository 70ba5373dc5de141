import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

/**
 * Finds connections whose peer disappeared silently: it does not acknowledge data that is sent
 * repeatedly. The kernel itself stops only after a quarter of an hour. Systems other than Linux
 * lack this table, so nothing is found there.
 */
export interface SilentPeers {
  /** Returns a check for silent sockets; undefined if none is silent. */
  look(): Promise<((socket: Socket) => boolean) | undefined>
}

/** Retransmissions of a silent peer. The interval doubles each time: at least 12 seconds. */
const mostRetries = 6
/**
 * Looks of a silent peer, ten seconds apart, without an acknowledgement in between. This applies
 * if the first interval is long because of a slow network or a busy machine.
 */
const mostLooks = 3
/** An idle client has only a few beats queued. More may be in transit to one that reads. */
const mostIdleBytes = 1_000

/** The unacknowledged data of one connection. */
export interface Waiting {
  /** The number of retransmissions. */
  readonly retries: number
  readonly bytes: number
}

/** The unacknowledged data of one connection over several looks. */
export interface Unanswered extends Waiting {
  readonly first: Waiting
  readonly looks: number
}

export function createSilentPeers(): SilentPeers {
  let seen: ReadonlyMap<string, Unanswered> = new Map()
  return {
    async look() {
      const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable))
      seen = compare(seen, new Map(tables.flatMap((table) => [...waitingIn(table)])))
      const silent = new Set([...seen].flatMap(([name, one]) => (isSilent(one) ? [name] : [])))
      if (silent.size === 0) return undefined
      return ({ localPort, remoteAddress, remotePort }) =>
        silent.has(peerName(localPort ?? 0, remoteAddress ?? '', remotePort ?? 0))
    },
  }
}

/** Pure: adds a look to the previous ones. An acknowledgement restarts the count. */
export function compare(
  seen: ReadonlyMap<string, Unanswered>,
  now: ReadonlyMap<string, Waiting>,
): ReadonlyMap<string, Unanswered> {
  return new Map(
    [...now].map(([name, waiting]) => {
      const before = seen.get(name)
      const goesOn = before && waiting.retries >= before.retries && waiting.bytes >= before.bytes
      return [name, { ...waiting, first: goesOn ? before.first : waiting, looks: goesOn ? before.looks + 1 : 1 }]
    }),
  )
}

export function isSilent({ first, retries, bytes, looks }: Unanswered): boolean {
  if (retries >= mostRetries) return true
  return looks >= mostLooks && (retries > first.retries || (bytes > first.bytes && bytes < mostIdleBytes))
}

const readTable = (path: string): Promise<string> => readFile(path, 'latin1').catch(() => '')
const peerName = (localPort: number, address: string, port: number): string =>
  `${localPort} ${address.replace(/^::ffff:(?=\d+\.)/i, '')} ${port}`

/**
 * A row of the table. Columns: number, local address, remote address, state, queues, timer (01:
 * retransmission), retries …
 */
const row =
  /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]+):[0-9A-F]+ 01:[0-9A-F]+ ([0-9A-F]{8})/

/** Pure: returns the unacknowledged data of each peer from a table of the kernel. */
export function waitingIn(table: string): Map<string, Waiting> {
  const found = new Map<string, Waiting>()
  for (const line of table.split('\n')) {
    const [, localPort, address, port, queue, retries] = row.exec(line) ?? []
    if (!localPort || !address || !port || !queue || !retries) continue
    const name = peerName(Number.parseInt(localPort, 16), addressOf(address), Number.parseInt(port, 16))
    found.set(name, { retries: Number.parseInt(retries, 16), bytes: Number.parseInt(queue, 16) })
  }
  return found
}

/** Decodes an address. The kernel prints four bytes as one number, in reverse order. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()])
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff) return bytes.slice(12).join('.')
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  )
  return URL.parse(`http://[${groups.join(':')}]`)?.hostname.slice(1, -1) ?? hex
}
