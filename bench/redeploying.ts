import { systemClock as clock } from '../server/lib/clock.ts'
import { type Application, createApplication } from './application.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { keepAlive } from './http.ts'
import { createInstallation, type Installation } from './installation.ts'

const deployments = 20
/** Every fourth one is interrupted, at another share of the time that one takes. */
const isInterrupted = (deployment: number): boolean => deployment % 4 === 2
const perSecond = 200

/**
 * Requests that did not get their whole 200 while changes of an application were deployed again and again, in five of twenty times with the
 * server killed in the middle and started again. Requests come at a constant rate, whether or not earlier ones are answered; one
 * half over connections that are kept, the other each over a new one.
 */
export const redeploying: Benchmark = {
  figures: ['requests-lost'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const application = await createApplication(session, installation)
    const traffic = sendRequests(application)
    let usualMs = 1000
    for (let deployment = 0; deployment < deployments; deployment++) {
      // What has not changed would not be restarted.
      await application.repository.push(`change ${deployment}`)
      const startedAt = clock.monotonic()
      await application.deploy()
      if (isInterrupted(deployment)) await interrupt(installation, usualMs * ((deployment % 5) + 1) * 0.18)
      await application.untilDeployed()
      await application.untilIdle()
      if (!isInterrupted(deployment)) usualMs = clock.monotonic() - startedAt
      session.say(`  deployment ${deployment + 1}: ${traffic.sent()} requests, ${traffic.lost().length} lost`)
    }
    await traffic.stop()
    report(session, traffic)
    return [absolute('requests-lost', traffic.lost().length, 'requests', atMost(0))]
  },
}

async function interrupt(installation: Installation, afterMs: number): Promise<void> {
  await clock.sleep(afterMs)
  await installation.kill()
  await installation.start()
}

interface Traffic {
  sent(): number
  lost(): readonly string[]
  /** Waits for what is open. */
  stop(): Promise<void>
}

function sendRequests(application: Application): Traffic {
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
      // What is due by now, also when this process came late.
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
