import { join } from 'node:path'
import { recordChange, serviceEntry } from '../audit/index.ts'
import {
  type BackupOptions,
  createBackupScheduler,
  createBackupWorkflow,
  createFileEraser,
  createProofWorkflow,
  createRestoreWorkflow,
  createScratchWorkflow,
} from '../backups/index.ts'
import type { Database } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { archiveCommandOf, findDeployedRelease, isTriedOnData, scratchRelease, volumesOf } from '../releases/index.ts'
import { createRestoring } from '../requests/index.ts'
import { dataRefusal, haveImage, type RecipeOptions, recipeFor, whileUnreachable } from '../rollout/index.ts'
import type { Workflow, Workflows } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

/** What backups are made, proven and restored through. */
export function createBackupOptions(
  { config, database, log, vault, engines, organizationDisk }: Foundation,
  later: { readonly recipe: () => RecipeOptions; readonly workflows: () => Workflows },
): BackupOptions {
  return {
    database,
    clock,
    log,
    vault,
    directory: join(config.dataDirectory, 'backups'),
    engines,
    mostStandingSeconds: config.copySeconds,
    workflows: later.workflows,
    patiently: ({ signal, output }, work) => whileUnreachable({ clock }, signal, output, work),
    volumesOf: (service) => volumesOf(service, service.id),
    madeVolumesOf: async (sql, service) =>
      volumesOf((await findDeployedRelease(sql, service.id)) ?? service, service.id),
    diskRefusal: (sql, organizationId) => organizationDisk.refusal(organizationId, sql),
    archiveCommandOf,
    dataRefusal: (service, from) => dataRefusal(service, { name: service.name, from }),
    startScratch: async (service, scratch, attempt) => {
      if (!isTriedOnData(service)) return undefined
      const recipe = recipeFor(later.recipe(), { engine: service.cluster_engine })
      const found = await scratchRelease(recipe, service, scratch)
      if (!found) return false
      await haveImage(recipe, service.organization_id, found.row, attempt)
      await recipe.engine.start(found.release, attempt)
      return true
    },
    restoring: restoringOf(later.workflows, database),
    recordRestore: (sql, service, { id, name, restore_state: status, restore_reason: reason }) =>
      recordChange(
        sql,
        serviceEntry(service, {
          created_at: clock.now(),
          event_type: 'MAINTENANCE',
          origin: 'QOVERY_INTERNAL',
          by: { name: 'restore', caller: 'restore' },
          change: { backup: { id, name }, restore: { status, reason } },
          request_id: newId(),
        }),
      ),
  }
}

/** Requests of restores; the workflows that run them are there later. */
function restoringOf(workflows: () => Workflows, database: Database): BackupOptions['restoring'] {
  const now = () => createRestoring({ database, clock, workflows: workflows() })
  return {
    hold: (sql, service) => now().hold(sql, service),
    stop: (service, restore) => now().stop(service, restore),
    start: (service, restore) => now().start(service, restore),
    outcome: (request, service) => now().outcome(request, service),
  }
}

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
