import { systemClock as clock } from '../server/lib/clock.ts'
import { createApplication, limits } from './application.ts'
import { absolute, atMost, type Benchmark } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { cpuSeconds, pssMB } from './processes.ts'
import { until } from './until.ts'

const services = 100
/**
 * Services deployed before the measurement, so that the memory for a first deployment does not
 * count.
 */
const earlier = 20
/** Containers that have been up for this long are no longer inspected one by one. */
const settleMs = 75_000
const measureMs = 30_000

/**
 * Measures the cost of one hundred idle applications: CPU in per cent of a core, and memory for
 * each.
 */
export const idling: Benchmark = {
  figures: ['idle-100-cpu', 'idle-100-memory'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    await createApplication(session, installation)
    const pid = await installation.serverPid()
    await deployMany(installation, 'earlier', earlier)
    await clock.sleep(settleMs)
    const before = await pssMB(pid)
    await deployMany(installation, 'idle', services)
    session.say(`  ${services} applications are running`)
    await clock.sleep(settleMs)
    const startedAt = await cpuSeconds(pid)
    await clock.sleep(measureMs)
    const percent = ((await cpuSeconds(pid)) - startedAt) / (measureMs / 100_000)
    const after = await pssMB(pid)
    session.say(`  the server takes ${after.toFixed(0)} MB, ${before.toFixed(0)} before`)
    const each = (after - before) / services
    return [
      absolute('idle-100-cpu', percent, '% of a core', atMost(2)),
      absolute('idle-100-memory', each, 'MB a service', atMost(0.3)),
    ]
  },
}

/** Creates and deploys applications from the existing repository, in one environment. */
async function deployMany({ api, port }: Installation, name: string, count: number): Promise<void> {
  const organization = String(Object(listed(await api('GET', '/organization'))[0]).id)
  const project = await api('POST', `/organization/${organization}/project`, { name })
  const environment = await api('POST', `/project/${project.id}/environment`, { name })
  const path = `/environment/${environment.id}`
  for (let number = 1; number <= count; number++) {
    await api('POST', `${path}/application`, {
      name: `${name}-${number}`,
      git_repository: { url: `http://localhost:${port}/git/bench.git`, branch: 'main' },
      cpu: limits.cpuMilli / 10,
      memory: 64,
      ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
    })
  }
  await api('POST', `${path}/deploy`, {})
  const isUp = async () => {
    const { state } = await api('GET', `${path}/status`)
    if (/ERROR|CANCELED/.test(String(state))) throw new Error(`the environment is ${state}`)
    return state === 'DEPLOYED'
  }
  await until('all are deployed', isUp, { limitMs: 900_000, everyMs: 1_000 })
}

const listed = ({ results }: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Array.isArray(results) ? results : []
