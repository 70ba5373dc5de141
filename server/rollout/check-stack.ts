import { isAtRest } from '@quayside/contract/states.ts'
import { afterCommit, type Database, inTransaction } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { findRun, type Stacks } from '../stacks/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { checkedVersion, driftWorkflow } from './stack-drift.ts'

export interface CheckStackOptions {
  readonly database: Database
  readonly stacks: Pick<Stacks, 'beginDrift'>
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
}

/**
 * Begins a check of a stack for drift now, whatever its timetable is, and returns its run. The run
 * has the lock of the stack until a deployment takes it. Throws AppError `conflict` if nothing can
 * be checked now.
 */
export const createCheckStack =
  ({ database, stacks, workflows }: CheckStackOptions) =>
  (serviceId: string) =>
    inTransaction(database, async (sql) => {
      const service = await findService(sql, serviceId)
      if (!service) throw notFound('service', serviceId)
      const release = await checkedVersion(sql, service)
      if (!release) throw new AppError('conflict', reasonOf(service))
      const id = newId()
      const of = { id, service_id: serviceId, release_id: release.id, backend: release.settings.backend }
      const refused = await stacks.beginDrift(sql, of)
      if (refused !== undefined) throw new AppError('conflict', refused)
      const input = { runId: id, serviceId }
      await workflows.submit(sql, { id, kind: driftWorkflow, key: serviceId, input, countsFor: { serviceId } })
      afterCommit(() => workflows.nudge())
      return findRun(sql, { serviceId, runId: id })
    })

const reasonOf = ({ name, state }: ServiceRow): string =>
  isAtRest(state)
    ? `Stack "${name}" is ${state} and has no applied version to check. Deploy it first.`
    : `Stack "${name}" is ${state}. Try again when that has ended.`
