import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import { selfSigned } from '../../test/support/self-signed.ts'
import { absolute, atMost, type Benchmark, type Figure, relative } from '../figure.ts'
import { pssMB } from '../processes.ts'
import { startBoth } from './both.ts'
import { type Front, host } from './programs.ts'

/** The most idle connections. Over TLS each costs the client much. */
const most = { http: 10_000, tls: 2_000 } as const
/** HAProxy closes idle connections as soon as four fifths of its limit are taken. */
const connections = { total: 13_000, perClient: 1_000 }
/** The connections of one source address. */
const perAddress = 500
const openAtOnce = 50
/** The files that HAProxy has open beside its connections. */
const otherFiles = 400

/**
 * Measures the memory of idle connections that have had one request each: of HAProxy and our
 * router, and of HAProxy alone. They come from many addresses, since each has a limit. If a process
 * may not have enough files open, fewer connections are made, and the memory of 10,000 is computed.
 */
export const restingConnections: Benchmark = {
  figures: ['front-idle-http', 'front-idle-tls'],
  group: 'fronts',
  async measure(session) {
    const both = await startBoth(session, { connections })
    if (!both) return []
    const figures: Figure[] = []
    const possible = Math.floor((await mostFiles()) / 2) - otherFiles
    for (const wire of ['http', 'tls'] as const) {
      const count = Math.min(most[wire], possible - (possible % openAtOnce))
      const floor = await grown(both.haproxy, wire, count)
      const own = await grown(both.own, wire, count)
      session.say(`  ${count} connections over ${wire}: ${own.toFixed(1)} MB, HAProxy alone ${floor.toFixed(1)} MB`)
      if (wire === 'http') figures.push(absolute('front-idle-http', (own / count) * 10_000, 'MB', atMost(100)))
      else {
        const paired = { value: own, floor, ratio: own / floor, quartiles: [own / floor, own / floor] as const }
        figures.push(relative('front-idle-tls', paired, 'MB', atMost(1.2)))
      }
    }
    return figures
  },
}

/** Returns how many files a process may have open. HAProxy takes half of it for connections. */
async function mostFiles(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1])
}

const memoryOf = async ({ pids }: Front): Promise<number> =>
  (await Promise.all(pids.map(pssMB))).reduce((sum, one) => sum + one, 0)

/** Returns the growth of a front with its idle connections, in MB. */
async function grown(front: Front, wire: 'http' | 'tls', count: number): Promise<number> {
  const before = await memoryOf(front)
  const open: Socket[] = []
  try {
    for (let at = 0; at < count; at += openAtOnce) {
      const more = Array.from({ length: openAtOnce }, (_, index) => openOne(front, wire, at + index))
      open.push(...(await Promise.all(more)))
    }
    const lost = open.filter((one) => one.destroyed || one.readableEnded).length
    if (lost > 0) throw new Error(`${lost} of ${open.length} idle connections were closed`)
    return (await memoryOf(front)) - before
  } finally {
    for (const one of open) one.destroy()
  }
}

/** Opens a connection from an address of its group, and waits for the answer to one request. */
async function openOne(front: Front, wire: 'http' | 'tls', index: number): Promise<Socket> {
  const port = wire === 'http' ? front.port : front.tlsPort
  const to = { host: '127.0.0.1', port, localAddress: `127.0.1.${1 + Math.floor(index / perAddress)}` }
  const socket =
    wire === 'http'
      ? connect(to)
      : connectSecure({ ...to, servername: host, ca: selfSigned.cert, ALPNProtocols: ['http/1.1'] })
  socket.on('end', () => socket.destroy())
  await once(socket, wire === 'http' ? 'connect' : 'secureConnect')
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`)
  for (let text = ''; !text.endsWith('Hello, world!'); ) {
    const [chunk] = await once(socket, 'data')
    text += String(chunk)
  }
  return socket
}
