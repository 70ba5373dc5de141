import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createDiskKeeper, type DiskKeeper, type MeasuredLogs } from '../disk/index.ts'
import { localEngine } from '../engines/index.ts'
import { failRun } from '../jobs/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

const gibibyte = 1024 ** 3

/** Releases of a service whose images are kept. */
export const keptReleases = 5

/** Keeps what the platform takes on the disk of this machine within its budget. */
export function createDisk({ config, database, engines, builders, log, organizationDisk }: Foundation): DiskKeeper {
  const engine = engines.engineOf({ engine: localEngine })
  return createDiskKeeper({
    database,
    engine,
    builder: builders.builderOf({ engine: localEngine }),
    clock,
    log,
    budgetBytes: config.diskBudgetGiB === undefined ? undefined : config.diskBudgetGiB * gibibyte,
    layerGiB: config.layerGiB,
    failRun: (run, signal) => failRun({ database, engine }, run, { signal, output: silent }),
    measureLogs: () => measureLogs(join(config.dataDirectory, 'logs')),
    organizations: organizationDisk,
  })
}

export const diskReconciler = (disk: DiskKeeper): Reconciler => ({
  name: 'disk',
  everyMs: 60_000,
  reconcile: (signal) => disk.reconcile(signal),
})

/** The space that is free is looked at much more often than the disk is measured. */
export const spaceReconciler = (disk: DiskKeeper, measureNow: () => void): Reconciler => ({
  name: 'free disk space',
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
