import type { Observation } from '../engine.ts'
import { inspectContainer } from './containers.ts'
import type { ContainerInfo } from './docker-api.ts'
import type { KnownStates } from './known-states.ts'
import { toObservation } from './observation.ts'
import type { Host } from './start.ts'
import { UntilEvent } from './until-event.ts'

export type Seen = ReadonlyMap<string, Observation>

/** Looks at all containers. Reuses the last look if there was no event since. */
export class Looks {
  readonly #host: Host
  readonly #known: KnownStates
  readonly #last: UntilEvent<Seen>

  constructor(host: Host, known: KnownStates) {
    this.#host = host
    this.#known = known
    this.#last = new UntilEvent(host)
  }

  async all(list: () => Promise<readonly ContainerInfo[]>, signal: AbortSignal): Promise<Seen> {
    const look = async (isTold: boolean): Promise<Seen> => {
      this.#known.begin(this.#host.clock.monotonic(), isTold)
      return await this.#look(await list(), signal)
    }
    return (await this.#last.get(look)).value
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
