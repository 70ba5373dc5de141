import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../workflows/index.ts'

export interface ResumerOptions {
  readonly log: Logger
  /** Lets everything go on that stands still and that no copy of this process needs; gives what went on. */
  readonly resume: (signal: AbortSignal) => Promise<readonly string[]>
}

/** Lets go on what a copy left standing still whose server was killed: also where that copy begins anew, and where it never will. */
export const createResumer = ({ log, resume }: ResumerOptions): Reconciler => ({
  name: 'standing still',
  everyMs: 10_000,
  reconcile: async (signal) => {
    for (const name of await resume(signal)) log.warn({ container: name }, 'a replica that stood still goes on')
  },
})
