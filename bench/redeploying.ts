import { systemClock as clock } from '../server/lib/clock.ts'
import { createApplication } from './application.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { reportLost, sendRequests } from './traffic.ts'

interface Plan {
  /** The least number of deployments. */
  readonly deployments: number
  /** The least number of requests. A quick machine needs more deployments for it. */
  readonly requests: number
  /** One in this many deployments is interrupted, each at a different point. */
  readonly interruptEvery: number
  readonly perSecond: number
}

/** The variants by figure. The long one takes about six minutes. */
const plans: Readonly<Record<string, Plan>> = {
  'requests-lost': { deployments: 20, requests: 0, interruptEvery: 4, perSecond: 200 },
  'requests-lost-long': { deployments: 100, requests: 100_000, interruptEvery: 5, perSecond: 500 },
}

/**
 * Counts the requests without a complete 200 while changes of an application are deployed
 * repeatedly. In some deployments the server is killed and restarted. Requests come at a constant
 * rate, even if earlier ones are not answered. One half uses persistent connections, the other a
 * new one each.
 */
export const redeploying: readonly Benchmark[] = Object.entries(plans).map(([name, plan]) => ({
  figures: [name],
  measure: async (session) => [absolute(name, await lostBy(plan, session), 'requests', atMost(0))],
}))

async function lostBy({ deployments, requests, interruptEvery, perSecond }: Plan, session: Session): Promise<number> {
  const installation = await createInstallation(session)
  await installation.start()
  const application = await createApplication(session, installation)
  const traffic = sendRequests((agent) => application.ask('/json', agent), perSecond)
  let usualMs = 1000
  for (let deployment = 0; deployment < deployments || traffic.sent() < requests; deployment++) {
    const isInterrupted = deployment % interruptEvery === 2
    // An unchanged application would not be restarted.
    await application.repository.push(`change ${deployment}`)
    const startedAt = clock.monotonic()
    await application.deploy()
    if (isInterrupted) await interrupt(installation, usualMs * ((deployment % 5) + 1) * 0.18)
    await application.untilDeployed()
    await application.untilIdle()
    if (!isInterrupted) usualMs = clock.monotonic() - startedAt
    session.say(`  deployment ${deployment + 1}: ${traffic.sent()} requests, ${traffic.lost().length} lost`)
  }
  await traffic.stop()
  reportLost(session, traffic)
  return traffic.lost().length
}

async function interrupt(installation: Installation, afterMs: number): Promise<void> {
  await clock.sleep(afterMs)
  await installation.kill()
  await installation.start()
}
