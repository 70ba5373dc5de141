import { type CollectorOptions, type ReleaseMask, ServiceFeed } from './service-feed.ts'

/**
 * Collects the run-time lines of the services into `service/<id>`. It keeps no state, so a restart
 * loses nothing.
 */
export interface Collector {
  /**
   * Starts collecting the lines of the service. Can be repeated, also to report that lines may
   * exist now. Masks of several releases apply together, and a new mask replaces the previous one
   * of the same release.
   */
  follow(service: string, mask?: ReleaseMask): void
  stopFollowing(service: string): void
  following(): string[]
  isFollowing(service: string): boolean
  /** Stops following everything and waits until received lines are passed to the store. */
  close(): Promise<void>
}

/** Milliseconds that an engine which does not stop may delay the shutdown. */
const closeMs = 3000

export function createCollector(options: CollectorOptions): Collector {
  const feeds = new Map<string, ServiceFeed>()
  /** Feeds that are stopping. The next feed of the same service begins when they have ended. */
  const ending = new Map<string, Promise<void>>()

  const stopFollowing = (service: string): void => {
    const feed = feeds.get(service)
    if (!feed) return
    feeds.delete(service)
    const ended: Promise<void> = feed.stop().finally(() => {
      if (ending.get(service) === ended) ending.delete(service)
    })
    ending.set(service, ended)
  }

  return {
    follow: (service, mask) => {
      const known = feeds.get(service)
      if (known) known.wake(mask)
      else feeds.set(service, new ServiceFeed({ ...options, service, mask, startAfter: ending.get(service) }))
    },
    stopFollowing,
    following: () => [...feeds.keys()],
    isFollowing: (service) => feeds.has(service),
    close: async () => {
      for (const service of [...feeds.keys()]) stopFollowing(service)
      const limit = new AbortController()
      await Promise.race([Promise.all(ending.values()), options.clock.sleep(closeMs, limit.signal).catch(() => {})])
      limit.abort()
      ending.clear()
    },
  }
}
