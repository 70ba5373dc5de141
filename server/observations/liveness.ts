import { type NamedEngine, reconcilerName, type Upkeep } from '../engines/index.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'

/**
 * Restarts replicas that fail their liveness probe, and runs the post-start command of restarted
 * ones.
 */
export const createLiveness = (
  { log }: { readonly log: Logger },
  { name, engine }: NamedEngine<Pick<Upkeep, 'checkLiveness' | 'followRestarts'>>,
): Reconciler => ({
  name: reconcilerName('liveness', name),
  everyMs: 1000,
  reconcile: async (signal) => {
    for (const container of await engine.checkLiveness(signal)) {
      log.warn({ container }, 'liveness probe failed too often; the container was restarted')
    }
    for (const reason of await engine.followRestarts(signal)) {
      log.warn({ reason }, 'the post-start command of a restarted container failed')
    }
  },
})
