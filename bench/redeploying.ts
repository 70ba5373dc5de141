import { systemClock as clock } from '../server/lib/clock.ts'
import { type Application, createApplication } from './application.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { keepAlive } from './http.ts'
import { createInstallation, type Installation } from './installation.ts'

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
  const traffic = sendRequests(application, perSecond)
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
  report(session, traffic)
  return traffic.lost().length
}

async function interrupt(installation: Installation, afterMs: number): Promise<void> {
  await clock.sleep(afterMs)
  await installation.kill()
  await installation.start()
}

interface Traffic {
  sent(): number
  lost(): readonly string[]
  /** Waits for open requests. */
  stop(): Promise<void>
}

function sendRequests(application: Application, perSecond: number): Traffic {
  const agent = keepAlive()
  const stopping = new AbortController()
  const open = new Set<Promise<void>>()
  const lost: string[] = []
  let sent = 0
  const send = (): void => {
    const one = application
      .ask('/json', sent++ % 2 ? agent : undefined)
      .then(({ status, body }) => {
        if (status !== 200) lost.push(`${status} ${body.slice(0, 100)}`)
      })
      .catch((error: unknown) => void lost.push(String(error)))
      .finally(() => open.delete(one))
    open.add(one)
  }
  const sending = (async () => {
    const startedAt = clock.monotonic()
    while (!stopping.signal.aborted) {
      // Sends all requests that are due, even if this process is late.
      const due = ((clock.monotonic() - startedAt) * perSecond) / 1000
      while (sent < due) send()
      await clock.sleep(2)
    }
  })()
  return {
    sent: () => sent,
    lost: () => lost,
    stop: async () => {
      stopping.abort()
      await sending
      await Promise.all(open)
      agent.destroy()
    },
  }
}

function report({ say }: Session, traffic: Traffic): void {
  const kinds = Map.groupBy(traffic.lost(), (reason) => reason)
  for (const [reason, all] of kinds) say(`  ${all.length} × ${reason}`)
}
