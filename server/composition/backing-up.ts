import { join } from 'node:path'
import {
  type BackupOptions,
  createBackupScheduler,
  createBackupWorkflow,
  createFileEraser,
  createProofWorkflow,
  createRestoreWorkflow,
  createScratchWorkflow,
} from '../backups/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { archiveCommandOf, madeVolumesOf, volumesOf } from '../releases/index.ts'
import { createRestoring } from '../requests/index.ts'
import { createPatience, createScratchStarter, dataRefusal, type RecipeOptions } from '../rollout/index.ts'
import type { Workflow } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'
import type { LateWorkflows } from './late-workflows.ts'

/** The dependencies of backups, proofs and restores. */
export const createBackupOptions = (
  { config, database, log, vault, engines, organizationDisk }: Foundation,
  recipe: RecipeOptions,
  workflows: LateWorkflows,
): BackupOptions => ({
  database,
  clock,
  log,
  vault,
  directory: join(config.dataDirectory, 'backups'),
  floorBytes: gibibytes(config.diskFloorGiB),
  engines,
  mostStandingSeconds: config.copySeconds,
  workflows: () => workflows,
  patiently: createPatience(clock),
  volumesOf: (service) => volumesOf(service, service.id),
  madeVolumesOf,
  diskRefusal: (sql, organizationId) => organizationDisk.refusal(organizationId, sql),
  archiveCommandOf,
  dataRefusal: (service, from) => dataRefusal(service, { name: service.name, from }),
  startScratch: createScratchStarter(recipe),
  restoring: createRestoring({ database, clock, workflows }),
})

export const createBackupWorkflows = (options: BackupOptions): Workflow[] => [
  createBackupWorkflow(options),
  createProofWorkflow(options),
  createRestoreWorkflow(options),
  createScratchWorkflow(options),
]

export const createBackupReconcilers = (options: BackupOptions) => [
  createBackupScheduler(options),
  createFileEraser(options),
]
