import type { Pulse } from '../database/index.ts'
import type { createServer, OpenStreams } from '../http/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Reconcilers, Workflows } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

/** How long open requests may take when the server stops. */
const closeMs = 10_000

/** What a server runs by itself, and what it has open. */
interface Running {
  readonly clock: Clock
  readonly app: Awaited<ReturnType<typeof createServer>>
  readonly openStreams: OpenStreams
  readonly workflows: Workflows
  readonly reconcilers: Reconcilers | undefined
  readonly pulse: Pulse | undefined
  readonly stopping: AbortController
}

/** Accepts nothing new, hands over what runs, and closes what is open: in this order. */
export async function stopAll(
  { log, stateChanges, collector, lines }: Foundation,
  { clock, app, openStreams, workflows, reconcilers, pulse, stopping }: Running,
): Promise<void> {
  // Streams never end by themselves; their clients come back.
  const streamsEnded = openStreams.close()
  // A client that takes too long to finish a request must not keep running deployments from being
  // handed over.
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
  // Lines that a full disk did not take are lost; all else has ended in order.
  await lines.close().catch((error: unknown) => {
    log.error({ err: error }, 'lines could not be written before the end; they are lost')
  })
}
