import type { Observation } from '../engine.ts'
import { inspectContainer } from './containers.ts'
import type { ContainerInfo } from './docker-api.ts'
import type { KnownStates } from './known-states.ts'
import { toObservation } from './observation.ts'
import type { Host } from './start.ts'

export type Seen = ReadonlyMap<string, Observation>

/** The longest time for which a look is reused, even without events. */
export const longestMs = 10_000

/** Looks at all containers. Reuses the last look if there was no event since. */
export class Looks {
  readonly #host: Host
  readonly #known: KnownStates
  #last: { readonly count: number; readonly atMs: number; readonly seen: Seen } | undefined

  constructor(host: Host, known: KnownStates) {
    this.#host = host
    this.#known = known
  }

  async all(list: () => Promise<readonly ContainerInfo[]>, signal: AbortSignal): Promise<Seen> {
    // Counted before the look, because an event during the look may be missing from it.
    const count = this.#host.events.count()
    const atMs = this.#host.clock.monotonic()
    if (this.#last && this.#last.count === count && atMs - this.#last.atMs < longestMs) return this.#last.seen
    this.#known.begin(atMs, count !== undefined)
    const seen = await this.#look(await list(), signal)
    this.#last = count === undefined ? undefined : { count, atMs, seen }
    return seen
  }

  async #look(found: readonly ContainerInfo[], signal: AbortSignal): Promise<Seen> {
    const { daemon, clock } = this.#host
    const looks = found.map(async (listed) => ({
      listed,
      state: this.#known.find(listed) ?? (await inspectContainer(daemon, listed.Id, signal)),
    }))
    const seen = (await Promise.all(looks)).flatMap(({ listed, state }) => (state ? [{ listed, state }] : []))
    this.#known.keep(seen)
    const now = clock.now()
    const byService = Map.groupBy(seen, ({ state }) => state.service)
    return new Map([...byService].map(([service, all]) => [service, toObservation(statesOf(all), now)]))
  }
}

const statesOf = <T>(seen: readonly { readonly state: T }[]): T[] => seen.map(({ state }) => state)
