import { atLeast, atMost, type Benchmark, type Figure, relative, type Session } from '../figure.ts'
import { compare, type Paired } from '../paired.ts'
import { cpuSeconds } from '../processes.ts'
import { cores } from './cores.ts'
import { downloading } from './download.ts'
import { loadFront, type Wire, wires } from './h2load.ts'
import { handshakes } from './handshakes.ts'
import { latency } from './latency.ts'
import { type Front, host, missingPrograms, startCaddy, startHaproxy, startOwn, startUpstream } from './programs.ts'
import { restingConnections } from './resting-connections.ts'
import { starts } from './starts.ts'

const rounds = 15
const seconds = 1

/** One load of one front. */
interface Taken {
  readonly perSecond: number
  /** Of all processes of the front, for each request. */
  readonly cpuMicros: number
}

/**
 * Measures the fronts of applications in one run: our router against HAProxy and Caddy, over plain
 * HTTP/1.1, over TLS, and over HTTP/2. The floor is HAProxy. Without its programs nothing is
 * measured.
 */
const fronts: Benchmark = {
  figures: wires.flatMap((wire) => [`front-${wire}`, `front-${wire}-cpu`, `front-${wire}-caddy`]),
  group: 'fronts',
  async measure(session) {
    const missing = await missingPrograms()
    if (missing.length > 0) {
      session.say(`The fronts are not measured, because this machine lacks ${missing.join(', ')}.`)
      return []
    }
    const upstream = await startUpstream(session)
    const haproxy = await startHaproxy(session, upstream)
    const subjects = { own: await startOwn(session, upstream), caddy: await startCaddy(session, upstream) }
    const figures: Figure[] = []
    for (const wire of wires) figures.push(...(await measureWire(session, wire, { haproxy, ...subjects })))
    return figures
  },
}

type Fronts = Readonly<Record<'haproxy' | 'own' | 'caddy', Front>>

async function measureWire({ say }: Session, wire: Wire, all: Fronts): Promise<Figure[]> {
  const taken = { haproxy: [] as Taken[], own: [] as Taken[], caddy: [] as Taken[] }
  for (const front of Object.values(all)) await take(front, wire, 1)
  for (let round = 0; round < rounds; round++) {
    taken.haproxy.push(await take(all.haproxy, wire))
    taken.own.push(await take(all.own, wire))
    taken.caddy.push(await take(all.caddy, wire))
  }
  taken.haproxy.push(await take(all.haproxy, wire))
  const of = (front: keyof Fronts, what: keyof Taken): readonly number[] => taken[front].map((one) => one[what])
  const against = (what: keyof Taken): Record<'own' | 'caddy', Paired> => {
    const [own, caddy] = [of('own', what), of('caddy', what)]
    return compare(
      of('haproxy', what),
      own.map((value, round) => ({ own: value, caddy: caddy[round] ?? 0 })),
    )
  }
  const [speed, cpu] = [against('perSecond'), against('cpuMicros')]
  for (const name of ['own', 'caddy'] as const) {
    const costs = `${cpu[name].value.toFixed(1)} µs of CPU a request (HAProxy ${cpu[name].floor.toFixed(1)})`
    say(`  ${wire} ${name}: ${speed[name].value.toFixed(0)} requests/s, ${costs}`)
  }
  return [
    relative(`front-${wire}`, speed.own, 'requests/s', atLeast(0.85)),
    relative(`front-${wire}-cpu`, cpu.own, 'µs', atMost(1.5)),
    relative(`front-${wire}-caddy`, twice(of('caddy', 'perSecond'), of('own', 'perSecond')), 'requests/s', atLeast(2)),
  ]
}

/** Compares our router with the loads of Caddy around it. */
function twice(caddy: readonly number[], own: readonly number[]): Paired {
  const floors = [caddy[0] ?? 0, ...caddy]
  return compare(
    floors,
    own.map((value) => ({ own: value })),
  ).own
}

async function take(front: Front, wire: Wire, duration = seconds): Promise<Taken> {
  const port = wire === 'http' ? front.port : front.tlsPort
  const used = async (): Promise<number> => {
    const each = await Promise.all(front.pids.map(cpuSeconds))
    return each.reduce((sum, one) => sum + one, 0)
  }
  const before = await used()
  const perSecond = await loadFront({ wire, host, port, seconds: duration })
  const cpuMicros = (((await used()) - before) * 1e6) / (perSecond * duration)
  return { perSecond, cpuMicros }
}

/** All measurements of fronts. */
export const frontFigures: readonly Benchmark[] = [
  fronts,
  latency,
  handshakes,
  downloading,
  restingConnections,
  cores,
  starts,
]
