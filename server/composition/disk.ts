import { join } from 'node:path'
import { createDiskKeeper, type DiskKeeper, type Disks, joinDisks } from '../disk/index.ts'
import type { NamedEngine } from '../engines/index.ts'
import { failRun } from '../jobs/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { measureLines } from '../logs/index.ts'
import type { Foundation } from './foundation.ts'

/** Releases of a service whose images are kept. */
export const keptReleases = 5

/** The keepers of the disks of all engines. `nudge` runs a reconciler at once. */
export const createDisks = (foundation: Foundation, nudge: (reconciler: string) => void): Disks =>
  joinDisks(
    foundation.engines.each((named) => ({
      name: named.name,
      keeper: createDisk(foundation, named),
      isMeasured: named.engine.capabilities.measuresDisk,
    })),
    nudge,
  )

/** Keeps the disk use of the platform on an engine within its budget. */
const createDisk = (
  { config, database, builders, log, organizationDisk }: Foundation,
  { name, engine }: NamedEngine,
): DiskKeeper =>
  createDiskKeeper({
    database,
    name,
    engine,
    builder: builders.builderOf({ engine: name }),
    clock,
    log,
    budgetBytes: gibibytes(config.diskBudgetGiB),
    layerGiB: config.layerGiB,
    failRun: (run, signal) => failRun({ database, engine }, run, { signal, output: silent }),
    measureLogs: () => measureLines(name, join(config.dataDirectory, 'logs')),
    organizations: organizationDisk,
  })
