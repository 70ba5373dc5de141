import { afterCommit } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { ServicesOptions } from '../services/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { setServiceCopying } from './clone-store.ts'
import { insertServiceCopy } from './copy-record-store.ts'
import { serviceCopyWorkflow } from './service-copy-workflow.ts'

/**
 * Submits the copy of a service's data in the caller's transaction. The new service cannot be used
 * until it has the data.
 */
export const submitServiceCopy =
  ({
    workflows,
    clock,
  }: {
    readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
    readonly clock: Clock
  }): ServicesOptions['copyData'] =>
  async (sql, { from, to }) => {
    await setServiceCopying(sql, to, from)
    await insertServiceCopy(sql, { id: to, sourceId: from, now: clock.now() })
    const input = { serviceId: to, sourceId: from }
    await workflows.submit(sql, { id: to, kind: serviceCopyWorkflow, key: to, input, countsFor: { serviceId: to } })
    afterCommit(() => workflows.nudge())
  }
