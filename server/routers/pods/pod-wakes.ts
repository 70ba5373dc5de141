import type { Clock } from '../../lib/clock.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { numberIn, servicesIn } from '../control-answer.ts'
import type { Wakes } from '../router.ts'
import type { RouterPod } from './router-pods.ts'

export interface PodWakesOptions {
  readonly clock: Clock
  /** Returns the running routers, after new ones have got the table. */
  readonly pods: (signal: AbortSignal) => Promise<readonly RouterPod[]>
  /** Whether the table has a service. Routers of a cluster report no others. */
  readonly knows: (service: string) => boolean
}

/** How often new routers are looked for. */
const lookMs = 1_000
/** A router answers soon after its time is over. */
const lateMs = 5_000

/** The services for which requests wait in any router of a cluster. */
export class PodWakes {
  readonly #options: PodWakesOptions
  /** The last sequence of each router, by the id of its pod. */
  #seen = new Map<string, number>()
  #sequence = 0

  constructor(options: PodWakesOptions) {
    this.#options = options
  }

  /** See `Router.wakes`. Meanwhile, routers that start get the table. */
  async wait(known: number, timeoutMs: number, signal: AbortSignal): Promise<Wakes> {
    signal.throwIfAborted()
    if (known !== this.#sequence) this.#seen.clear()
    const ending = new AbortController()
    const asking = AbortSignal.any([signal, ending.signal])
    const news = Promise.withResolvers<readonly string[]>()
    // A router that cannot be reached delays the search for others, and not the news of others.
    const searching = this.#search(timeoutMs, news.resolve, asking)
    try {
      const services = await Promise.race([news.promise, searching])
      if (services.length > 0) this.#sequence++
      return { sequence: this.#sequence, services }
    } finally {
      ending.abort(nobodyWaits)
      await searching.catch(() => {})
    }
  }

  /** Asks each router, also those that start. Returns when the time is over. */
  async #search(
    timeoutMs: number,
    found: (services: readonly string[]) => void,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { clock, pods } = this.#options
    const asked = new Set<string>()
    const end = clock.monotonic() + timeoutMs
    for (let left = timeoutMs; left > 0; left = end - clock.monotonic()) {
      for (const pod of await pods(signal)) {
        if (asked.has(pod.uid)) continue
        asked.add(pod.uid)
        this.#ask(pod, left, signal).then(
          (services) => services.length > 0 && found(services),
          // It is asked again.
          () => asked.delete(pod.uid),
        )
      }
      await clock.sleep(Math.min(lookMs, left), signal)
    }
    return []
  }

  /** Returns the services with waiting requests in one router, after it has a new one. */
  async #ask({ uid, link }: RouterPod, leftMs: number, signal: AbortSignal): Promise<readonly string[]> {
    const sequence = this.#seen.get(uid) ?? -1
    const body = { sequence, timeoutMs: Math.floor(leftMs) }
    const question = { method: 'POST', path: '/wakes', body, timeoutMs: leftMs + lateMs, signal } as const
    const answer = await link.ask(question)
    const services = servicesIn(answer).filter((service) => this.#options.knows(service))
    const current = numberIn(answer, 'sequence')
    const isNew = current !== sequence
    this.#seen.set(uid, current)
    return isNew ? services : []
  }
}
