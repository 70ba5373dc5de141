import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

/**
 * Finds connections whose other end is gone without a word: what was sent is not acknowledged,
 * again and again. The kernel itself gives up after a quarter of an hour only. Where it does not
 * tell (it is no Linux), nothing is found and that holds.
 */
export interface SilentPeers {
  /** Undefined: none is silent. */
  look(): Promise<((socket: Socket) => boolean) | undefined>
}

/** Sent again so often, each time after twice the pause: 12 seconds at least. */
const mostRetries = 6
/**
 * Where the first pause is long, since the way there was long or this machine busy: so many looks,
 * ten seconds apart, with nothing acknowledged in between.
 */
const mostLooks = 3
/** What waits for an idle client is a few beats; more may be on its way to one that reads. */
const mostIdleBytes = 1_000

/** What waits on one connection for its acknowledgement. */
export interface Waiting {
  /** How often it was sent again. */
  readonly retries: number
  readonly bytes: number
}

/** The same over several looks. */
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

/** Pure: what a further look says. An acknowledgement begins the count anew. */
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
 * Columns: number, local address, remote address, state, queues, timer (01: sends again), retries …
 */
const row =
  /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]+):[0-9A-F]+ 01:[0-9A-F]+ ([0-9A-F]{8})/

/** Pure: from a table of the kernel, what was sent to whom and is not acknowledged yet. */
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
