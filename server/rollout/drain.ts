import type { LineSink } from '../lib/attempt.ts'
import { type Recipe, whileUnreachable } from './recipe.ts'

/**
 * Waits, within the drain time, until no request is open on any release of a service except `keep`.
 * Returns the number of requests still open. The endpoints come from the engine, because after a
 * crash the routes may no longer list them.
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
