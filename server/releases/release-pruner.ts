import type { Database } from '../database/index.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { giveUpReleases } from './release-store.ts'

/**
 * Creates the reconciler that removes images, variables and secrets of all but the newest
 * `keptReleases` versions of each service.
 */
export const createReleasePruner = (options: {
  readonly database: Database
  readonly keptReleases: number
}): Reconciler => ({
  name: 'releases',
  everyMs: 60_000,
  reconcile: async () => void (await giveUpReleases(options.database, options.keptReleases)),
})
