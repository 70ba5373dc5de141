import { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './router-process.ts'

/**
 * Keeps a router process running: starts one when it is gone; it comes up with the table that it
 * had last. One that is slow to answer is left alone, since traffic may well be flowing.
 */
export function superviseRouter(
  options: Omit<RouterProcessOptions, 'signal'>,
  /** Told of every process that had to be started. */
  started: (process: RouterProcess) => void = () => {},
): { readonly name: string; readonly everyMs: number; reconcile(signal: AbortSignal): Promise<void> } {
  return {
    name: 'router process',
    everyMs: 1_000,
    reconcile: async (signal) => {
      const found = await ensureRouterProcess({ ...options, signal })
      if (!found.adopted) started(found)
    },
  }
}
