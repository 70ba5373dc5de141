import type { Reconciler } from '../../lib/reconciler.ts'
import { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './router-process.ts'

/** The name of the reconciler that keeps a router process running. */
export const routerSupervisor = 'router process'

/**
 * Keeps a router process running. If it is gone, starts one, which loads the last table. A process
 * that is slow to answer is left alone, since traffic may still flow. The waker always has a
 * request open to the router, and has this run at once when that breaks.
 */
export function superviseRouter(
  options: Omit<RouterProcessOptions, 'signal'>,
  /** Called for every process that had to be started. */
  started: (process: RouterProcess) => void = () => {},
): Reconciler {
  return {
    name: routerSupervisor,
    everyMs: 10_000,
    reconcile: async (signal) => {
      const found = await ensureRouterProcess({ ...options, signal })
      if (!found.adopted) started(found)
    },
  }
}
