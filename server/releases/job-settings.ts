import type { JobEvent } from '../jobs/index.ts'
import { AppError } from '../lib/error.ts'
import type { ServiceRow, SettingsOf } from '../services/index.ts'
import type { Versioned } from './versioned.ts'

export type JobSettings = SettingsOf['job']

const members = { START: 'on_start', STOP: 'on_stop', DELETE: 'on_delete', CRON: 'cronjob' } as const

/** The member of a job's schedule that says what an event runs: `on_start`. */
export const memberOf = (event: JobEvent): (typeof members)[JobEvent] => members[event]

/** What a job runs for an event; undefined: nothing. */
export const runOf = ({ schedule }: Pick<JobSettings, 'schedule'>, event: JobEvent) => schedule[members[event]]

/**
 * What the deployment of a job runs of it, where its settings have something for that; a cron job
 * runs by its timetable alone.
 */
export const eventOfDeployment = ({ schedule }: Pick<JobSettings, 'schedule'>): JobEvent | undefined =>
  schedule.cronjob === undefined ? 'START' : undefined

/**
 * Pure: whether a deployment of this version runs something to its end, even where nothing has
 * changed.
 */
export function isRunWhenDeployed({ kind, settings }: Versioned): boolean {
  if (kind !== 'job') return false
  const event = eventOfDeployment(settings)
  return event !== undefined && runOf(settings, event) !== undefined
}

/** Throws 400 when the job has nothing for that event. */
export function checkForced(service: ServiceRow, event: JobEvent): void {
  if (service.kind === 'job' && !runOf(service.settings, event))
    throw new AppError('invalid', `forceEvent: job "${service.name}" has no ${memberOf(event)}.`)
}
