import type { ScopedAnnotations } from '@quayside/contract/resources/tag-group.ts'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Release, Task } from '../engines/index.ts'
import { type JobEvent, type JobRunRow, type LoadedJob, outputFile } from '../jobs/index.ts'
import { silent } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'
import {
  findRelease,
  type JobSettings,
  leastMemoryMiB,
  memberOf,
  openVariables,
  programSettings,
  type ReleaseRow,
  runOf,
  stopGraceSeconds,
} from '../releases/index.ts'
import { findService } from '../services/index.ts'
import { internalHost } from '../variables/index.ts'
import { haveImage } from './image-release.ts'
import { type Recipe, type RecipeOptions, recipeFor } from './recipe.ts'

/** Job settings: 0 means no limit of its own, so the highest allowed value applies. */
const longestSeconds = 2_073_600

/** Pure: returns what a job runs for an event. */
export function toTask(
  settings: JobSettings,
  event: JobEvent,
  input: Pick<Task, 'image' | 'variables' | 'files' | 'aliases' | 'labels' | 'stopGraceSeconds' | 'hasReadOnlyRoot'> & {
    readonly layerGiB: number
    readonly annotations: ScopedAnnotations
  },
): Task {
  const run = runOf(settings, event)
  if (!run) throw new Error(`the job has no ${memberOf(event)}`)
  const { CRON_JOBS, JOBS, ...annotations } = input.annotations
  const ofRuns = event === 'CRON' ? CRON_JOBS : JOBS
  return {
    ...input,
    annotations: { ...annotations, ...(ofRuns && { JOBS: ofRuns }) },
    shape: 'task',
    arguments: run.arguments,
    ...(run.entrypoint ? { entrypoint: [run.entrypoint] } : {}),
    cpuMilli: settings.cpu,
    memoryMiB: Math.max(leastMemoryMiB, settings.memory),
    layerGiB: settings.ephemeral_storage_in_gib || input.layerGiB,
    timeoutSeconds: Math.min(longestSeconds, settings.max_duration_seconds || longestSeconds),
    ...(event === 'CRON' ? { isPunctual: true } : { outputFile }),
  }
}

/** Returns the advanced settings of a job's version, with defaults for missing ones. */
export const jobAdvanced = ({ advanced_settings }: Pick<ReleaseRow, 'advanced_settings'>): SettingValues =>
  effectiveSettings(settingsOfKind('job'), advanced_settings)

/** Returns a version of a job in the form that the engine runs for an event. */
export async function engineTask(
  options: Pick<Recipe, 'database' | 'vault' | 'layerGiB'>,
  organizationId: string,
  row: ReleaseRow,
  event: JobEvent,
): Promise<{ readonly release: Release<Task>; readonly secrets: readonly Secret[] }> {
  const service = await findService(options.database, row.service_id)
  if (!service || !row.image || row.kind !== 'job') throw new Error(`release ${row.id} is not of a job with an image`)
  const { variables, files, secrets } = await openVariables(options.database, options.vault, organizationId, row)
  const { reference, published: image = reference } = row.image
  const { hasReadOnlyRoot = false } = programSettings('job', row.advanced_settings)
  const input = {
    image,
    variables,
    files,
    aliases: [internalHost(service)],
    labels: row.labels,
    annotations: row.annotations,
    stopGraceSeconds: stopGraceSeconds('job', row.advanced_settings),
    layerGiB: options.layerGiB,
    ...(hasReadOnlyRoot ? { hasReadOnlyRoot } : {}),
  }
  const { id, environment_id: environment, name: displayName } = service
  const workload = toTask(row.settings, event, input)
  return { release: { id: row.id, service: id, environment, displayName, workload }, secrets }
}

/**
 * Returns what a scheduled run executes. Undefined if its job or version is gone, or has nothing
 * for the event.
 */
export async function loadJob(
  options: RecipeOptions,
  { service_id, release_id, event }: JobRunRow,
): Promise<LoadedJob | undefined> {
  const row = await findRelease(options.database, release_id)
  const service = await findService(options.database, service_id)
  if (!service || row?.kind !== 'job' || !row.image || !runOf(row.settings, event)) return undefined
  const { organization_id: organizationId } = service
  const recipe = recipeFor(options, { engine: service.cluster_engine })
  return {
    engine: recipe.engine,
    ...(await engineTask(options, organizationId, row, event)),
    retries: row.settings.max_nb_restart,
    advancedSettings: jobAdvanced(row),
    haveImage: (signal) => haveImage(recipe, organizationId, row, { signal, output: silent }),
  }
}
