import type { Database } from '../database/index.ts'
import type { Runner } from '../engines/index.ts'
import { findLeaving, setLeaving } from '../scaling/index.ts'
import type { LineCollector, ReleaseOpener, ReplicaEnder, Restarter } from './roles.ts'

/** Restarts releases on one engine, and ends replicas that leave. */
export function createRestarter({
  database,
  engine,
  releases,
  collector,
}: {
  readonly database: Database
  readonly engine: Pick<Runner, 'start' | 'endReplicas'>
  readonly releases: Pick<ReleaseOpener, 'open'>
  readonly collector: LineCollector
}): Restarter & ReplicaEnder {
  const endLeaving: ReplicaEnder['endLeaving'] = async ({ id }, names, attempt) => {
    await engine.endReplicas(id, names, attempt)
    await setLeaving(database, id, [])
  }
  return {
    endLeaving,
    restartRelease: async (wish, id, attempt) => {
      const opened = await releases.open(wish.organization_id, id)
      if (!opened) return undefined
      collector.collect(wish.id, id, opened.secrets)
      await opened.haveImage(attempt)
      // A server that was killed may have told these replicas to end. They would look healthy now
      // and be gone a moment later.
      const leaving = await findLeaving(database, wish.id)
      if (leaving.length > 0) await endLeaving(wish, leaving, attempt)
      return engine.start(opened.release, attempt)
    },
  }
}
