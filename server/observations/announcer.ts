import type { Logger } from '../lib/log.ts'
import { type LineStore, serviceStream } from '../logs/index.ts'
import type { Announcer } from '../scaling/index.ts'
import type { ServiceObserver } from './service-observers.ts'

/**
 * Writes a new number of replicas into the service's log and has the observer apply it. If that
 * fails, the next look a second later applies it.
 */
export function createAnnouncer({
  log,
  lines,
  observer,
  stopping,
}: {
  readonly log: Logger
  readonly lines: Pick<LineStore, 'append'>
  readonly observer: Pick<ServiceObserver, 'look'>
  readonly stopping: AbortSignal
}): Announcer {
  return {
    changed: (serviceId, sentence) => {
      void lines.append(serviceStream(serviceId), [{ text: sentence, stream: 'stdout', replica: '', release: '' }])
      observer.look(serviceId, stopping).catch((error: unknown) => {
        if (!stopping.aborted) log.debug({ err: error, serviceId }, 'a service is looked at later')
      })
    },
  }
}
