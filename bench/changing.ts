import { systemClock as clock } from '../server/lib/clock.ts'
import { type Application, createApplication } from './application.ts'
import { atMost, type Benchmark, relative, type Session } from './figure.ts'
import { bareDeployment } from './floors/deploy.ts'
import { keepAlive } from './http.ts'
import { createInstallation } from './installation.ts'
import { paired } from './paired.ts'
import { until } from './until.ts'

const rounds = 9

/** Measures the time from a pushed change to its first response and to the state DEPLOYED. */
export const changing: Benchmark = {
  figures: ['change-to-answer', 'change-to-deployed'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const application = await createApplication(session, installation)
    let count = 0
    const next = (): string => `${process.pid}-${++count}`
    await bareDeployment(next())
    const { answer, deployed } = await paired(
      rounds,
      () => bareDeployment(next()),
      () => change(session, application, next()),
    )
    return [
      relative('change-to-answer', answer, 'ms', atMost(1.5)),
      relative('change-to-deployed', deployed, 'ms', atMost(1.6)),
    ]
  },
}

async function change({ say }: Session, application: Application, version: string) {
  await application.repository.push(version)
  const agent = keepAlive()
  const startedAt = clock.monotonic()
  const since = (): number => clock.monotonic() - startedAt
  await application.deploy()
  const [answer, deployed] = await Promise.all([
    until(`version ${version} answers`, () => answers(application, version, agent), { everyMs: 5 }).then(since),
    application.untilDeployed().then(since),
  ])
  agent.destroy()
  await application.untilIdle()
  say(`  answered after ${answer.toFixed(0)} ms, DEPLOYED after ${deployed.toFixed(0)} ms`)
  return { answer, deployed }
}

async function answers(application: Application, version: string, agent: ReturnType<typeof keepAlive>) {
  const { status, body } = await application.ask('/json', agent)
  return status === 200 && body.includes(`"version":"${version}"`)
}
