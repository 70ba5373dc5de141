import type { Database } from '../database/index.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../workflows/index.ts'
import { copiesData } from './clone-store.ts'
import { copyWorkflow } from './copy-workflow.ts'
import { serviceCopyWorkflow } from './service-copy-workflow.ts'

export interface ResumerOptions {
  readonly database: Database
  readonly log: Logger
  /** Lets everything go on that stands still; gives what went on. */
  readonly resume: (signal: AbortSignal) => Promise<readonly string[]>
}

/** Lets go on what a copy left standing still that will not be taken up again. While data are being copied it looks away. */
export const createResumer = ({ database, log, resume }: ResumerOptions): Reconciler => ({
  name: 'standing still',
  everyMs: 10_000,
  reconcile: async (signal) => {
    if (await copiesData(database, [copyWorkflow, serviceCopyWorkflow])) return
    for (const name of await resume(signal)) log.warn({ container: name }, 'a replica that stood still goes on')
  },
})
