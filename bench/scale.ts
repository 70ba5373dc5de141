import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbedded } from '../server/database/index.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { startChild } from './child.ts'
import { absolute, atMost, type Benchmark, type Figure, type Session } from './figure.ts'
import { ask } from './http.ts'
import { median } from './paired.ts'
import { cpuSeconds, pidsWith, pssMB, treeOf } from './processes.ts'
import { change } from './scale-changes.ts'
import { until } from './until.ts'

const clusters = 500
const servicesOfEach = 100
const settleMs = 15_000
/** With fewer statements a second the server no longer attaches to the lines of services. */
const settledStatements = 200
const settledWithinMs = 600_000
const measureMs = 60_000
/**
 * Deployments and crashes in this time, half of each. One percent of the services in an hour would
 * be nine, which are too few to measure.
 */
const changes = 36
const preparingMs = 300_000

/**
 * Measures one server with 50,000 running services on 500 clusters, which are fakes in its process:
 * without changes, and while services are deployed and crash.
 */
export const scale: Benchmark = {
  figures: [
    'scale-start',
    'scale-memory',
    'scale-cpu',
    'scale-statements',
    'scale-stall',
    'scale-deploy',
    'scale-event',
  ],
  measure: (session) => measureScale(session, clusters, servicesOfEach),
}

/** `many` clusters with `each` services. */
export async function measureScale(session: Session, many: number, each: number): Promise<Figure[]> {
  const database = await startDatabase(session)
  const directory = await folder(session)
  const [seedPort, port, controlPort] = [await findFreePort(), await findFreePort(), await findFreePort()]
  session.say(`  writing ${many * each} services on ${many} clusters`)
  const records = [String(seedPort), database.url, directory, String(many), String(each)]
  await startChild(session, 'scale-records.ts', records, seedPort, preparingMs)
  session.say('  starting the server')
  const server = [String(port), String(controlPort), database.url, directory]
  await startChild(session, 'scale-server.ts', server, controlPort, preparingMs)
  const [pid = 0] = await pidsWith(String(controlPort))
  const control = async (path: string) => JSON.parse((await ask({ port: controlPort, path, timeoutMs: 60_000 })).body)
  const isObserved = async () => (await control('/figures')).observedMs !== undefined
  await until('every cluster was observed', isObserved, { limitMs: preparingMs, everyMs: 1000 })
  const { answersMs, observedMs } = await control('/figures')
  session.say(`  it answered after ${answersMs.toFixed(0)} ms, and had observed all after ${observedMs.toFixed(0)} ms`)
  const measure = (what: string) => beginMeasurement(session, what, { pid, postmaster: database.pid(), control })
  const observedAt = clock.monotonic()
  const isSettled = async () => {
    await control('/figures')
    await clock.sleep(settleMs)
    return ((await control('/figures')).statements * 1000) / settleMs < settledStatements
  }
  await until('the server is settled', isSettled, { limitMs: settledWithinMs })
  session.say(
    `  it was settled ${((clock.monotonic() - observedAt) / 1000).toFixed(0)} s later, within ${settleMs / 1000} s`,
  )
  const rest = await measure('without changes')
  await clock.sleep(measureMs)
  const idle = await rest()
  const busy = await measure('with changes')
  const times = await change({ port, control, directory, url: database.url, measureMs, changes })
  const changing = await busy()
  session.say(`  to a start ${times.deploys.join(' ')} ms, to a record ${times.events.join(' ')} ms`)
  return [
    absolute('scale-start', observedMs / 1000, 's', atMost(60)),
    absolute('scale-memory', idle.memory, 'MB', atMost(1000)),
    absolute('scale-cpu', idle.cpu + idle.databaseCpu, '% of a core', atMost(60)),
    absolute('scale-statements', idle.statements, 'statements/s', atMost(100)),
    absolute('scale-stall', Math.max(idle.stall, changing.stall), 'ms', atMost(500)),
    absolute('scale-deploy', median(times.deploys), 'ms', atMost(1000)),
    absolute('scale-event', median(times.events), 'ms', atMost(2500)),
  ]
}

interface Measured {
  readonly pid: number
  readonly postmaster: number
  readonly control: (path: string) => Promise<Readonly<Record<string, number>> & { texts: readonly [string, number][] }>
}

/** Returns a function that ends the measurement. */
async function beginMeasurement(session: Session, what: string, { pid, postmaster, control }: Measured) {
  await control('/figures')
  const before = { server: await cpuSeconds(pid), database: await cpuOfTree(postmaster) }
  const startedAt = clock.monotonic()
  return async () => {
    const seconds = (clock.monotonic() - startedAt) / 1000
    const { statements = 0, stallMs = 0, texts } = await control('/figures')
    const figures = {
      cpu: (((await cpuSeconds(pid)) - before.server) / seconds) * 100,
      databaseCpu: (((await cpuOfTree(postmaster)) - before.database) / seconds) * 100,
      memory: await pssMB(pid),
      statements: statements / seconds,
      stall: stallMs,
    }
    session.say(`  ${what}: ${JSON.stringify(figures)}`)
    session.say(texts.map(([text, count]) => `    ${(count / seconds).toFixed(1)}/s ${text}`).join('\n'))
    return figures
  }
}

async function startDatabase(session: Session) {
  const ending = new AbortController()
  const log = pino({ level: 'silent' })
  const database = await startEmbedded({ directory: await folder(session), log, signal: ending.signal })
  session.ending.defer(() => database.stop())
  return database
}

async function folder({ ending }: Session): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-bench-scale-'))
  await chmod(directory, 0o711)
  ending.defer(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function cpuOfTree(pid: number): Promise<number> {
  const seconds = await Promise.all((await treeOf(pid)).map((one) => cpuSeconds(one).catch(() => 0)))
  return seconds.reduce((sum, one) => sum + one, 0)
}
