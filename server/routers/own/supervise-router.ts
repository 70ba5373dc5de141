import type { Logger } from '../../lib/log.ts'
import type { Reconciler } from '../../lib/reconciler.ts'
import { ensureRouterProcess, type RouterProcessOptions } from './router-process.ts'

/** The name of the reconciler that keeps a router process running. */
export const routerSupervisor = 'router process'

/**
 * Keeps a router process running. If it is gone, starts one, which loads the last table. A process
 * that is slow to answer is left alone, since traffic may still flow. The waker always has a
 * request open to the router, and has this run at once when that breaks.
 */
export function superviseRouter(options: Omit<RouterProcessOptions, 'signal'>, log: Pick<Logger, 'warn'>): Reconciler {
  return {
    name: routerSupervisor,
    everyMs: 10_000,
    reconcile: async (signal) => {
      const { adopted, pid } = await ensureRouterProcess({ ...options, signal })
      if (!adopted) log.warn({ pid }, 'router had ended and was started again')
    },
  }
}
