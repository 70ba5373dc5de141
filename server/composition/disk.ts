import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createDiskKeeper, type DiskKeeper, type MeasuredLogs } from '../disk/index.ts'
import { localEngine, type NamedEngine, reconcilerName } from '../engines/index.ts'
import { failRun } from '../jobs/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

const gibibyte = 1024 ** 3

/** Releases of a service whose images are kept. */
export const keptReleases = 5

/** The keepers of the disks of all engines. */
export interface Disks {
  /** Keeps the disk of this machine. */
  readonly local: DiskKeeper
  readonly reconcilers: readonly Reconciler[]
  /** Returns why a service runs out of its storage. */
  troubleOf(service: string): string | undefined
  /** Has all disks measured without waiting for the next time. */
  measureSoon(): void
}

/** Each engine's disk is kept on its own: one that hangs delays no other. `nudge` runs a reconciler at once. */
export function createDisks(foundation: Foundation, nudge: (reconciler: string) => void): Disks {
  const keepers = foundation.engines.all.map((named) => ({ ...named, keeper: createDisk(foundation, named) }))
  const local = keepers.find(({ name }) => name === localEngine)?.keeper
  if (!local) throw new Error('this machine has no engine')
  const reconcilers = keepers.map(({ name, keeper }) => diskReconciler(keeper, reconcilerName('disk', name)))
  return {
    local,
    reconcilers: [
      ...reconcilers,
      ...keepers.map(({ name, keeper }) =>
        spaceReconciler(keeper, reconcilerName('free disk space', name), () => nudge(reconcilerName('disk', name))),
      ),
    ],
    troubleOf: (service) => keepers.map(({ keeper }) => keeper.troubleOf(service)).find((text) => text !== undefined),
    measureSoon: () => {
      for (const { keeper } of keepers) keeper.measureSoon()
      for (const { name } of reconcilers) nudge(name)
    },
  }
}

/** Keeps what the platform takes on the disk of an engine within its budget. */
function createDisk(
  { config, database, builders, log, organizationDisk }: Foundation,
  { name, engine }: NamedEngine,
): DiskKeeper {
  return createDiskKeeper({
    database,
    name,
    engine,
    builder: builders.builderOf({ engine: name }),
    clock,
    log,
    budgetBytes: config.diskBudgetGiB === undefined ? undefined : config.diskBudgetGiB * gibibyte,
    layerGiB: config.layerGiB,
    failRun: (run, signal) => failRun({ database, engine }, run, { signal, output: silent }),
    // Logs are on this machine.
    measureLogs: async () =>
      name === localEngine ? measureLogs(join(config.dataDirectory, 'logs')) : { count: 0, bytes: 0 },
    organizations: organizationDisk,
  })
}

const diskReconciler = (disk: DiskKeeper, name: string): Reconciler => ({
  name,
  everyMs: 60_000,
  reconcile: (signal) => disk.reconcile(signal),
})

/** The space that is free is looked at much more often than the disk is measured. */
const spaceReconciler = (disk: DiskKeeper, name: string, measureNow: () => void): Reconciler => ({
  name,
  everyMs: 10_000,
  reconcile: async (signal) => {
    if (await disk.watch(signal)) measureNow()
  },
})

/** Lines are in `<directory>/<kind>/<id>/`. Files come and go meanwhile. */
async function measureLogs(directory: string): Promise<MeasuredLogs> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const sum = { count: 0, bytes: 0 }
  const byOwner = new Map<string, number>()
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    if (!found) continue
    sum.count += 1
    sum.bytes += found.size
    const id = basename(entry.parentPath)
    byOwner.set(id, (byOwner.get(id) ?? 0) + found.size)
  }
  return { ...sum, byOwner }
}
