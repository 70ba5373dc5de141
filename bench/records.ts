import { systemClock as clock } from '../server/lib/clock.ts'
import { atMost, type Benchmark, relative, type Session } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { compare } from './paired.ts'
import { cpuSeconds, pssMB } from './processes.ts'

const services = 4_000
/** Services of one environment. */
const each = 500
/** The server returns the memory of its start when it has been quiet for this long. */
const settleMs = 75_000
const measureMs = 30_000

/**
 * Measures what services that were never deployed cost a server without requests: its CPU and
 * memory with 4,000 of them, compared with the same installation before they were created. The
 * server restarts before each measurement, so that the requests that create them do not count.
 */
export const records: Benchmark = {
  figures: ['idle-records-cpu', 'idle-records-memory'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const before = await measureIdle(session, installation)
    await createServices(installation)
    session.say(`  ${services} services are created`)
    const after = await measureIdle(session, installation)
    const { percent, memory } = compareRounds(before, after)
    return [
      relative('idle-records-cpu', percent, '% of a core', atMost(1.2)),
      relative('idle-records-memory', memory, 'MB', atMost(1.1)),
    ]
  },
}

type Idle = Readonly<Record<'percent' | 'memory', number>>

const compareRounds = (before: Idle, after: Idle) => ({
  ...compare([before.percent, before.percent], [{ percent: after.percent }]),
  ...compare([before.memory, before.memory], [{ memory: after.memory }]),
})

async function measureIdle(session: Session, installation: Installation): Promise<Idle> {
  await installation.stop()
  await installation.start()
  const pid = await installation.serverPid()
  await clock.sleep(settleMs)
  const startedAt = await cpuSeconds(pid)
  await clock.sleep(measureMs)
  const percent = ((await cpuSeconds(pid)) - startedAt) / (measureMs / 100_000)
  const memory = await pssMB(pid)
  session.say(`  ${percent.toFixed(2)} % of a core, ${memory.toFixed(0)} MB`)
  return { percent, memory }
}

async function createServices({ api }: Installation): Promise<void> {
  const organization = String(firstOf(await api('GET', '/organization'))['id'])
  const registry = firstOf(await api('GET', `/organization/${organization}/containerRegistry`))['id']
  const project = await api('POST', `/organization/${organization}/project`, { name: 'records' })
  for (let first = 0; first < services; first += each) {
    const environment = await api('POST', `/project/${project['id']}/environment`, { name: `records-${first}` })
    for (let number = first; number < first + each; number++) {
      await api('POST', `/environment/${environment['id']}/container`, {
        name: `record-${number}`,
        registry_id: registry,
        image_name: 'library/redis',
        tag: '7',
        cpu: 100,
        memory: 64,
      })
    }
  }
}

const firstOf = ({ results }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object(Array.isArray(results) ? results[0] : undefined)
