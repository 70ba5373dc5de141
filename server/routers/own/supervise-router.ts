import type { Reconciler } from '../../lib/reconciler.ts'
import { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './router-process.ts'

/**
 * Keeps a router process running. If it is gone, starts one, which loads the last table. A process
 * that is slow to answer is left alone, since traffic may still flow.
 */
export function superviseRouter(
  options: Omit<RouterProcessOptions, 'signal'>,
  /** Called for every process that had to be started. */
  started: (process: RouterProcess) => void = () => {},
): Reconciler {
  return {
    name: 'router process',
    everyMs: 1_000,
    reconcile: async (signal) => {
      const found = await ensureRouterProcess({ ...options, signal })
      if (!found.adopted) started(found)
    },
  }
}
