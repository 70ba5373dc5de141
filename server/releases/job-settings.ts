import type { JobEvent } from '../jobs/index.ts'
import { AppError } from '../lib/error.ts'
import type { ServiceRow, SettingsOf } from '../services/index.ts'
import type { Versioned } from './versioned.ts'

export type JobSettings = SettingsOf['job']

const members = { START: 'on_start', STOP: 'on_stop', DELETE: 'on_delete', CRON: 'cronjob' } as const

/** Returns the member of a job's schedule that describes the run of an event: `on_start`. */
export const memberOf = (event: JobEvent): (typeof members)[JobEvent] => members[event]

/** Returns what a job runs for an event; undefined if nothing. */
export const runOf = ({ schedule }: Pick<JobSettings, 'schedule'>, event: JobEvent) => schedule[members[event]]

/**
 * Returns the event that a deployment of a job runs. Undefined for a cron job, which runs only on
 * its schedule.
 */
export const eventOfDeployment = ({ schedule }: Pick<JobSettings, 'schedule'>): JobEvent | undefined =>
  schedule.cronjob === undefined ? 'START' : undefined

/** Pure: whether a deployment of this version runs a task, even if nothing has changed. */
export function isRunWhenDeployed({ kind, settings }: Versioned): boolean {
  if (kind === 'terraform') return true
  if (kind !== 'job') return false
  const event = eventOfDeployment(settings)
  return event !== undefined && runOf(settings, event) !== undefined
}

/** Throws 400 if the job has nothing to run for that event. */
export function checkForced(service: ServiceRow, event: JobEvent): void {
  if (service.kind === 'job' && !runOf(service.settings, event))
    throw new AppError('invalid', `forceEvent: job "${service.name}" has no ${memberOf(event)}.`)
}
