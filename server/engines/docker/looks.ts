import type { Observation } from '../engine.ts'
import { inspectContainer } from './containers.ts'
import type { ContainerInfo } from './docker-api.ts'
import type { KnownStates } from './known-states.ts'
import { changesWithTime, toObservation } from './observation.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Host } from './start.ts'
import { UntilEvent } from './until-event.ts'

export type Seen = ReadonlyMap<string, Observation>

/** One service at a look, and what it was computed from. */
interface Observed {
  readonly states: readonly ReplicaState[]
  readonly observation: Observation
}

/** Looks at all containers. Reuses the last look if there was no event since. */
export class Looks {
  readonly #host: Host
  readonly #known: KnownStates
  readonly #last: UntilEvent<Seen>
  /** The services at the last look. */
  #observed: ReadonlyMap<string, Observed> = new Map()

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
    const byService = Map.groupBy(
      seen.map(({ state }) => state),
      ({ service }) => service,
    )
    this.#observed = new Map([...byService].map(([service, states]) => [service, this.#observe(service, states, now)]))
    return new Map([...this.#observed].map(([service, { observation }]) => [service, observation]))
  }

  /** Returns the same observation again if the service has the same states as at the last look. */
  #observe(service: string, states: readonly ReplicaState[], now: Date): Observed {
    const before = this.#observed.get(service)
    const isSame = before?.states.length === states.length && states.every((state, at) => state === before.states[at])
    return isSame && !states.some(changesWithTime) ? before : { states, observation: toObservation(states, now) }
  }
}
