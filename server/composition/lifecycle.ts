import type { Pulse } from '../database/index.ts'
import { type createServer, leave, type OpenStreams } from '../http/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { JoinedObserver } from '../observations/index.ts'
import type { Reconcilers, Workflows } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

/** The time limit of open requests when the server stops. */
const closeMs = 10_000

/** The parts that work without a request, and all open connections. */
interface Running {
  readonly clock: Clock
  readonly app: Awaited<ReturnType<typeof createServer>>
  readonly openStreams: OpenStreams
  readonly workflows: Workflows
  readonly reconcilers: Reconcilers | undefined
  readonly pulse: Pulse | undefined
  readonly stopping: AbortController
}

/** Forgets what another server may have changed, before this one begins to work. */
export async function gainDuty(
  { lines }: Foundation,
  { observer, workflows }: { readonly observer: JoinedObserver; readonly workflows: Workflows },
): Promise<void> {
  await lines.renew()
  observer.renew()
  workflows.nudge()
}

/** Hands running work to the server that works from now on. */
export async function loseDuty({ collector, lines }: Foundation, workflows: Workflows): Promise<void> {
  await Promise.all([workflows.handOver(), collector.close()])
  await lines.renew()
}

/**
 * Answers requests for the time of the setting. Then accepts no new requests, hands over running
 * work, and closes the rest, in this order.
 */
export async function stopAll(
  { config, log, stateChanges, collector, lines, duty }: Foundation,
  { clock, app, openStreams, workflows, reconcilers, pulse, stopping }: Running,
): Promise<void> {
  await leave(app.server, { seconds: config.leaveSeconds, clock })
  // Streams never end by themselves. Their clients connect again.
  const streamsEnded = openStreams.close()
  // A client that takes too long to finish a request must not delay the hand-over of running
  // deployments.
  const patience = new AbortController()
  const cut = clock.sleep(closeMs, patience.signal).then(
    () => app.server.closeAllConnections(),
    () => {},
  )
  await Promise.all([app.close().finally(() => patience.abort()), streamsEnded, workflows.stop(), reconcilers?.stop()])
  await pulse?.stop()
  await cut
  stopping.abort()
  await stateChanges.close()
  await collector.close()
  // Lines that a full disk could not store are lost. Everything else has ended in order.
  await lines.close().catch((error: unknown) => {
    log.error({ err: error }, 'lines could not be written at the end and are lost')
  })
  // Last, because the next server writes what this one has written until now.
  await duty.stop()
}
