import { localEngine, reconcilerName } from '../engines/index.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { type Each, eachOf } from '../lib/roster.ts'
import type { DiskKeeper } from './keeper.ts'

/** An engine's keeper. */
export interface NamedKeeper {
  readonly name: string
  readonly keeper: DiskKeeper
}

/** The disk keepers of all current engines. */
export interface Disks {
  /** The keeper of this machine's disk. */
  readonly local: DiskKeeper
  readonly reconcilers: readonly Reconciler[]
  /** Returns why a service is running out of storage. */
  troubleOf(service: string): string | undefined
  /** Schedules an early measurement of all disks. */
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
    ({ name, keeper }) => [
      createDiskReconciler(keeper, name),
      createSpaceWatch(keeper, name, () => nudge(reconcilerName('disk', name))),
    ],
  )
  return {
    local,
    get reconcilers() {
      return reconcilers.all.flat()
    },
    troubleOf: (service) =>
      keepers.all.map(({ keeper }) => keeper.troubleOf(service)).find((text) => text !== undefined),
    measureSoon: () => {
      for (const { name, keeper } of keepers.all) {
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
