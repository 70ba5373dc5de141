import { type CollectorOptions, type ReleaseMask, ServiceFeed } from './service-feed.ts'

/** Collects the run-time lines of the services into `service/<id>`. Only lives: nothing is lost by a restart. */
export interface Collector {
  /**
   * From now on lines of the service are collected. Repeatable; tells that lines may be there now. Masks of several releases act together, one of
   * the same release replaces the former one.
   */
  follow(service: string, mask?: ReleaseMask): void
  stopFollowing(service: string): void
  following(): string[]
  /** Stops following all and waits until what came is handed to the store. */
  close(): Promise<void>
}

/** An engine that does not stop when asked may not hold the shutdown up for longer. */
const closeMs = 3000

export function createCollector(options: CollectorOptions): Collector {
  const feeds = new Map<string, ServiceFeed>()
  /** Feeds that were told to stop: the next feed of the same service begins when they ended. */
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
    close: async () => {
      for (const service of [...feeds.keys()]) stopFollowing(service)
      const limit = new AbortController()
      await Promise.race([Promise.all(ending.values()), options.clock.sleep(closeMs, limit.signal).catch(() => {})])
      limit.abort()
      ending.clear()
    },
  }
}
