import type { LineSink } from '../lib/attempt.ts'
import { type Recipe, whileUnreachable } from './recipe.ts'

/**
 * Waits, at most as long as is granted, until no request is open on what runs of a service but the
 * release `keep`. Where that answers is asked of the engine: after a crash in between, the routes
 * no longer tell. Gives how many are still open.
 */
export async function drainOthers(
  options: Pick<Recipe, 'engine' | 'router' | 'drainMs' | 'clock'>,
  report: LineSink,
  service: { readonly id: string; readonly keep: string | undefined },
  signal: AbortSignal,
): Promise<number> {
  return whileUnreachable(options, signal, report, async () => {
    const seen = await options.engine.observe(service.id, signal)
    const others = seen.state === 'absent' ? [] : seen.replicas.filter(({ release }) => release !== service.keep)
    const endpoints = others.flatMap((replica) => replica.endpoints).map(({ address, port }) => ({ address, port }))
    return endpoints.length > 0 ? options.router.drained(endpoints, options.drainMs, signal) : 0
  })
}
