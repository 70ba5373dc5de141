import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createDiskKeeper, type DiskKeeper } from '../disk/index.ts'
import { failRun } from '../jobs/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

const gibibyte = 1024 ** 3

/** Releases of a service whose images are kept. */
export const keptReleases = 5

/** Keeps what the platform takes on the disk within its budget. */
export function createDisk({ config, database, engine, builder, log }: Foundation): DiskKeeper {
  return createDiskKeeper({
    database,
    engine,
    builder,
    clock,
    log,
    budgetBytes: config.diskBudgetGiB === undefined ? undefined : config.diskBudgetGiB * gibibyte,
    layerGiB: config.layerGiB,
    failRun: (run, signal) => failRun({ database, engine }, run, { signal, output: silent }),
    measureLogs: () => measureDirectory(join(config.dataDirectory, 'logs')),
  })
}

export const diskReconciler = (disk: DiskKeeper): Reconciler => ({
  name: 'disk',
  everyMs: 60_000,
  reconcile: (signal) => disk.reconcile(signal),
})

/** Files come and go meanwhile. */
async function measureDirectory(directory: string): Promise<{ count: number; bytes: number }> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const sum = { count: 0, bytes: 0 }
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    sum.count += found ? 1 : 0
    sum.bytes += found?.size ?? 0
  }
  return sum
}
