import { type NamedEngine, reconcilerName, type VolumeStore } from '../engines/index.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../workflows/index.ts'

/**
 * Continues the replicas of one engine that a copy left paused when its server was killed, unless a
 * copy of this process needs them. This also happens if that copy starts again, or never does.
 */
export const createResumer = (
  { log }: { readonly log: Logger },
  { name, engine }: NamedEngine<Pick<VolumeStore, 'resume'>>,
): Reconciler => ({
  name: reconcilerName('standing still', name),
  everyMs: 10_000,
  reconcile: async (signal) => {
    for (const container of await engine.resume(signal)) log.warn({ container }, 'a replica that stood still goes on')
  },
})
