import { localEngine, reconcilerName } from '../engines/index.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { type Each, eachOf } from '../lib/roster.ts'
import type { DiskKeeper } from './keeper.ts'

/** An engine's keeper. */
export interface NamedKeeper {
  readonly name: string
  readonly keeper: DiskKeeper
  /** Whether the engine reports the use of its disk. Otherwise its keeper has nothing to do. */
  readonly isMeasured: boolean
}

/** The disk keepers of all current engines. */
export interface Disks {
  /** The keeper of this machine's disk. */
  readonly local: DiskKeeper
  readonly reconcilers: readonly Reconciler[]
  /** Returns the keeper of an engine's disk. Undefined if there is no such engine. */
  keeperOf(engine: string): DiskKeeper | undefined
  /** Schedules an early measurement of all measured disks. */
  measureSoon(): void
}

/**
 * Runs each engine's keeper separately, so an engine that hangs delays no other. `nudge` runs a
 * reconciler at once. Throws if this machine has no keeper.
 */
export function joinDisks(keepers: Each<NamedKeeper>, nudge: (reconciler: string) => void): Disks {
  const local = keepers.all.find(({ name }) => name === localEngine)?.keeper
  if (!local) throw new Error('this machine has no engine')
  const reconcilers = eachOf(
    () => keepers.all,
    ({ name, keeper, isMeasured }) =>
      isMeasured
        ? [
            createDiskReconciler(keeper, name),
            createSpaceWatch(keeper, name, () => nudge(reconcilerName('disk', name))),
          ]
        : [],
  )
  return {
    local,
    get reconcilers() {
      return reconcilers.all.flat()
    },
    keeperOf: (engine) => keepers.all.find(({ name }) => name === engine)?.keeper,
    measureSoon: () => {
      for (const { name, keeper, isMeasured } of keepers.all) {
        if (!isMeasured) continue
        keeper.measureSoon()
        nudge(reconcilerName('disk', name))
      }
    },
  }
}

/** Measures the disk of an engine and frees unneeded space. */
export const createDiskReconciler = (disk: Pick<DiskKeeper, 'reconcile'>, engine: string): Reconciler => ({
  name: reconcilerName('disk', engine),
  everyMs: 60_000,
  reconcile: (signal) => disk.reconcile(signal),
})

/** Checks free space far more often than the disk is measured. Measures when space is low. */
export const createSpaceWatch = (
  disk: Pick<DiskKeeper, 'watch'>,
  engine: string,
  measureNow: () => void,
): Reconciler => ({
  name: reconcilerName('free disk space', engine),
  everyMs: 10_000,
  reconcile: async (signal) => {
    if (await disk.watch(signal)) measureNow()
  },
})
