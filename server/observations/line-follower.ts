import type { Logger } from '../lib/log.ts'
import { type LineStore, serviceLine, serviceStream } from '../logs/index.ts'
import type { WishRow } from './observation-store.ts'
import type { LineCollector, LineFollower, ReleaseOpener } from './roles.ts'

/** How many lines of a failing service are quoted. Its log has more. */
const mostLines = 10

/** Follows the lines of running services whose lines nobody collects yet. */
export function createLineFollower({
  log,
  lines,
  releases,
  collector,
}: {
  readonly log: Logger
  readonly lines: Pick<LineStore, 'tail'>
  readonly releases: Pick<ReleaseOpener, 'open'>
  readonly collector: LineCollector
}): LineFollower {
  /**
   * Opens all secrets before the first line comes: while one version follows another, both print.
   */
  const collectAll = async ({ id, organization_id }: WishRow, all: ReadonlySet<string>): Promise<void> => {
    const opening = [...all].map(async (release) => ({
      release,
      secrets: (await releases.open(organization_id, release))?.secrets ?? [],
    }))
    for (const { release, secrets } of await Promise.all(opening)) collector.collect(id, release, secrets)
  }
  return {
    lastLines: async (service) =>
      (await lines.tail(serviceStream(service), mostLines)).flatMap((line) => serviceLine(line).text || []),
    collect: (wish, running) => {
      if (wish.release_id === null || collector.isCollected(wish.id)) return
      void collectAll(wish, new Set([...running, wish.release_id])).catch((error: unknown) =>
        log.warn({ err: error, serviceId: wish.id }, 'lines are not collected yet'),
      )
    },
  }
}
