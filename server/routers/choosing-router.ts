import type { Router } from './router.ts'

/**
 * Returns a router that is chosen when it is first needed, because that asks the cluster. A check
 * of the cluster chooses again. Each call throws what `choose` throws.
 */
export function createChoosingRouter(choose: (signal: AbortSignal) => Promise<Router>): Router {
  let chosen: Promise<Router> | undefined
  let last: Router | undefined
  const current = (signal: AbortSignal): Promise<Router> => {
    signal.throwIfAborted()
    chosen ??= choose(signal).then(
      (router) => {
        last = router
        return router
      },
      (error: unknown) => {
        chosen = undefined
        throw error
      },
    )
    return chosen
  }
  return {
    /** It may, as long as no router has been chosen. */
    countsRequests: () => last?.countsRequests() ?? true,
    sharesRequests: () => last?.sharesRequests() ?? true,
    usesPlatformTls: () => last?.usesPlatformTls() ?? false,
    replaceAll: async (routes, signal, people) => (await current(signal)).replaceAll(routes, signal, people),
    drained: async (endpoints, timeoutMs, signal) => (await current(signal)).drained(endpoints, timeoutMs, signal),
    wakes: async (sequence, timeoutMs, signal) => (await current(signal)).wakes(sequence, timeoutMs, signal),
    // A router that was never chosen has carried nothing. No cluster is asked for that.
    takeCounts: async (stored, signal) => last?.takeCounts(stored, signal) ?? [],
    canaryCounts: async (signal) => last?.canaryCounts(signal) ?? [],
    takeLines: async (signal) => last?.takeLines(signal) ?? [],
    activity: async (signal) => (await current(signal)).activity(signal),
    portAddresses: async (signal) => (await current(signal)).portAddresses(signal),
    certificates: async () => last?.certificates() ?? [],
    renew: async (signal) => (await current(signal)).renew(signal),
    listFindings: async (signal, tls) => {
      chosen = undefined
      return (await current(signal)).listFindings(signal, tls)
    },
  }
}
