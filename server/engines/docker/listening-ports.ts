import { readFile } from 'node:fs/promises'

export interface Listener {
  readonly port: number
  /** Whether only programs of the same container can reach it. */
  readonly localOnly: boolean
}

/**
 * Lists the ports on which programs in the container of this process listen. Undefined if the
 * kernel does not show them.
 */
export async function listenersOf(pid: number): Promise<Listener[] | undefined> {
  if (pid === 0) return undefined
  // Missing without IPv6 or permission, with a daemon on another host, or after the process ended.
  // Only the message gets less precise.
  const read = (table: string): Promise<string> => readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '')
  const [tcp, tcp6] = await Promise.all([read('tcp'), read('tcp6')])
  return tcp === '' ? undefined : parseListeners(`${tcp}\n${tcp6}`)
}

/**
 * Parses `/proc/net/tcp` and `tcp6`: `sl local_address rem_address st …`, with addresses in the
 * machine's byte order.
 */
export function parseListeners(table: string): Listener[] {
  const byPort = new Map<number, boolean>()
  for (const line of table.split('\n')) {
    const [, local, , state] = line.trim().split(/\s+/)
    const [address, port] = local?.split(':') ?? []
    if (state !== '0A' || address === undefined || port === undefined || isDockerDns(address)) continue
    const number = Number.parseInt(port, 16)
    byPort.set(number, (byPort.get(number) ?? true) && isLoopback(address))
  }
  return [...byPort].map(([port, localOnly]) => ({ port, localOnly })).sort((a, b) => a.port - b.port)
}

/** Explains what to do about a program that cannot be reached on its declared port. */
export function explainListeners(declared: number, listeners: readonly Listener[] | undefined): string | undefined {
  if (listeners === undefined) return undefined
  const there = listeners.find((listener) => listener.port === declared)
  if (there?.localOnly) {
    return (
      `it listens on 127.0.0.1:${declared} only, where nothing outside its container can reach it; make it ` +
      'listen on 0.0.0.0'
    )
  }
  if (there) return undefined
  const open = listeners.filter((listener) => !listener.localOnly).map((listener) => listener.port)
  const [first] = open
  if (first !== undefined) {
    return (
      `it listens on ${open.join(', ')}, port ${declared} was declared; set internal_port to ${first} or make ` +
      `the program listen on ${declared}`
    )
  }
  const local = listeners.map((listener) => `127.0.0.1:${listener.port}`)
  if (local.length > 0) {
    return (
      `it listens on ${local.join(', ')} only, port ${declared} was declared; make it listen on ` +
      `0.0.0.0:${declared}`
    )
  }
  return `it does not listen on any port yet, port ${declared} was declared`
}

/** Docker's resolver listens on 127.0.0.11 in every container. */
const isDockerDns = (address: string): boolean => address === '0B00007F'

const isLoopback = (address: string): boolean =>
  (address.length === 8 && address.endsWith('7F')) ||
  address === '00000000000000000000000001000000' ||
  (address.startsWith('0000000000000000FFFF0000') && address.endsWith('7F'))
