import { messageOf } from '../lib/error.ts'
import type { Reconciler } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

/** Keeps the metadata service of a cloud closed to what is not the operator's, also after somebody has set up the firewall anew. */
export function createMetadataGuard({ engine, config, log }: Foundation): Reconciler {
  const wanted = config.cloudMetadata
  let failure: string | undefined
  let isOpened = false
  return {
    name: 'cloud metadata',
    everyMs: 60_000,
    async reconcile(signal) {
      // Once: another installation on the machine may want it closed.
      if (isOpened) return
      try {
        const isChanged = await engine.guardMetadata?.(wanted, signal)
        if (isChanged) log.info({ wanted }, "the cloud's metadata service is as wanted for containers and builds now")
        failure = undefined
        isOpened = wanted === 'open'
      } catch (error) {
        signal.throwIfAborted()
        const reason = messageOf(error)
        // Once for each reason: it will mostly stay the same.
        const level = wanted === 'closed' ? 'warn' : 'debug'
        if (reason !== failure)
          log[level]({ wanted, reason }, "the cloud's metadata service, if there is one, could not be guarded")
        failure = reason
      }
    },
  }
}
