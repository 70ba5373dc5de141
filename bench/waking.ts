import { systemClock as clock } from '../server/lib/clock.ts'
import { type Application, createApplication } from './application.ts'
import { list } from './docker.ts'
import { atMost, type Benchmark, relative, type Session } from './figure.ts'
import { bareImage, bareStart, removeBareImage } from './floors/deploy.ts'
import { createInstallation } from './installation.ts'
import { paired } from './paired.ts'
import { until } from './until.ts'

const rounds = 7

/** Settings with which the application sleeps as soon as possible. */
const sleepy = {
  min_running_instances: 0,
  autoscaling: {
    mode: 'KEDA',
    cooldown_period_seconds: 0,
    scalers: [{ scaler_type: 'http', role: 'PRIMARY', config_json: { any: 'thing' } }],
  },
}

/**
 * Measures the time from a request for a sleeping application to its response, against a bare
 * container of the same program: create, start, first 200.
 */
export const waking: Benchmark = {
  figures: ['wake-from-zero'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const application = await createApplication(session, installation, sleepy)
    const version = `wake-${process.pid}`
    await bareImage(version)
    session.ending.defer(() => removeBareImage(version))
    await bareStart(version)
    const { woken } = await paired(
      rounds,
      () => bareStart(version),
      async () => ({ woken: await wake(session, application) }),
    )
    return [relative('wake-from-zero', woken, 'ms', atMost(2))]
  },
}

async function wake({ say }: Session, application: Application): Promise<number> {
  const filters = { label: [`quayside.service=${application.id}`] }
  const isGone = async () => (await list('containers', filters)).length === 0
  await until('it sleeps', isGone, { limitMs: 60_000, everyMs: 100 })
  const startedAt = clock.monotonic()
  const { status } = await application.ask('/health')
  const ms = clock.monotonic() - startedAt
  if (status !== 200) throw new Error(`the request that woke the application got ${status}`)
  say(`  answered after ${ms.toFixed(0)} ms`)
  return ms
}
