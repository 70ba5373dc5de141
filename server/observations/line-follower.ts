import type { Logger } from '../lib/log.ts'
import { type LineStore, serviceLine, serviceStream } from '../logs/index.ts'
import type { WishRow } from './observation-store.ts'
import type { LineCollector, LineFollower, ReleaseOpener } from './roles.ts'

/** The number of lines that are quoted for a failing service. Its log has more. */
const mostLines = 10

/** Starts to collect the lines of running services that nobody collects yet. */
export function createLineFollower({
  log,
  lines,
  releases,
  collector,
}: {
  readonly log: Logger
  readonly lines: Pick<LineStore, 'tail'>
  readonly releases: Pick<ReleaseOpener, 'secretsOf'>
  readonly collector: LineCollector
}): LineFollower {
  /**
   * Opens all secrets before the first line arrives, because during a deployment both versions
   * print.
   */
  const collectAll = async ({ id, organization_id }: WishRow, all: ReadonlySet<string>): Promise<void> => {
    const opened = [...all].map(async (release) => ({
      release,
      secrets: await releases.secretsOf(organization_id, release),
    }))
    for (const { release, secrets } of await Promise.all(opened)) collector.collect(id, release, secrets)
  }
  /** The releases of each service that are being opened. */
  const opening = new Map<string, ReadonlySet<string>>()
  const isCollected = (wish: WishRow): boolean => wish.release_id === null || collector.isCollected(wish.id)
  return {
    isCollected,
    lastLines: async (service) =>
      (await lines.tail(serviceStream(service), mostLines)).flatMap((line) => serviceLine(line).text || []),
    collect: (wish, running) => {
      const { release_id: release } = wish
      if (release === null || isCollected(wish)) return
      const all = new Set([...running, release])
      // A service is looked at again before its secrets are open.
      const known = opening.get(wish.id)
      if (known && [...all].every((one) => known.has(one))) return
      opening.set(wish.id, all)
      void collectAll(wish, all)
        .catch((error: unknown) => log.warn({ err: error, serviceId: wish.id }, 'lines are not collected yet'))
        .finally(() => {
          if (opening.get(wish.id) === all) opening.delete(wish.id)
        })
    },
  }
}
