import { type NamedEngine, reconcilerName, type VolumeStore } from '../engines/index.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'

/**
 * Resumes replicas of an engine that a copy left paused when its server was killed. Replicas that a
 * copy of this process has paused are left alone. This does not depend on that copy's restart.
 */
export const createResumer = (
  { log }: { readonly log: Logger },
  { name, engine }: NamedEngine<Pick<VolumeStore, 'resume'>>,
): Reconciler => ({
  name: reconcilerName('standing still', name),
  everyMs: 10_000,
  reconcile: async (signal) => {
    for (const container of await engine.resume(signal)) log.warn({ container }, 'resumed a replica left paused')
  },
})
