import type { Database } from '../database/index.ts'
import { type EnvironmentList, type NamedEngine, type Runner, reconcilerName } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { environmentsOn } from './stray-store.ts'

/**
 * Removes what an engine keeps for environments that are not on its cluster and have nothing there,
 * such as the namespace of a copy whose server was killed. Backups and copies use environments
 * without a record for a while, so one is removed only if two looks in a row found it, and the
 * engine keeps those that are in use.
 */
export function createStrayEraser(
  { database, log }: { readonly database: Database; readonly log: Pick<Logger, 'info'> },
  { name, engine }: NamedEngine<EnvironmentList & Pick<Runner, 'eraseEnvironment'>>,
): Reconciler {
  let before: ReadonlySet<string> = new Set()
  return {
    name: reconcilerName('stray environments', name),
    everyMs: 300_000,
    reconcile: async (signal) => {
      const found = await engine.listEnvironments(signal)
      const known = await environmentsOn(database, name, found)
      const strays = found.filter((id) => !known.has(id))
      const again = strays.filter((id) => before.has(id))
      before = new Set(strays)
      for (const environmentId of again) {
        await engine.eraseEnvironment(environmentId, { signal, output: silent })
        log.info({ environmentId, engine: name }, 'an environment without a record was removed, unless it is in use')
      }
    },
  }
}
