import type { ContainerInfo } from './docker-api.ts'
import type { ReplicaState } from './replica-state.ts'

interface Known {
  readonly state: ReplicaState
  readonly address: string
  /** When the container was inspected. */
  readonly askedMs: number
}

/** After a gap this long between two looks everything is inspected again. */
const longestGapMs = 20_000
/**
 * The age at which a state is inspected again. A list does not show limits that somebody changed.
 * An event reports such a change, but events can be lost.
 */
const oldestMs = 300_000

/**
 * Caches the states of unchanged containers, so that a look at all of them costs one list instead
 * of one request each. While the daemon sends events, a container without an event is unchanged.
 * Without events the list says in words how long a container is up: one that is up for minutes has
 * not restarted since the last look.
 */
export class KnownStates {
  #known = new Map<string, Known>()
  #lookedMs = Number.NEGATIVE_INFINITY
  #isTold = false
  /** Containers that changed since the look began: their inspected state may be older. */
  readonly #changed = new Set<string | undefined>()

  /**
   * Begins a look at everything. `nowMs` comes from a monotonic clock. `isTold` says that the
   * caller passes each event to `forget`.
   */
  begin(nowMs: number, isTold: boolean): void {
    if (nowMs - this.#lookedMs > longestGapMs) this.#known.clear()
    this.#lookedMs = nowMs
    this.#isTold = isTold
    this.#changed.clear()
  }

  /** Drops the state of a container that changed; of all of them without an id. */
  forget(id: string | undefined): void {
    this.#changed.add(id)
    if (id === undefined) this.#known.clear()
    else this.#known.delete(id)
  }

  /**
   * Returns the state of a listed container if it cannot have changed. Undefined: it must be
   * inspected.
   */
  find(listed: ContainerInfo): ReplicaState | undefined {
    const known = this.#known.get(listed.Id)
    const isYoung = known !== undefined && this.#lookedMs - known.askedMs < oldestMs
    return isYoung && this.#isSteady(listed) && known.address === addressOf(listed) ? known.state : undefined
  }

  /** Stores the inspected states and drops all others. */
  keep(states: readonly { readonly listed: ContainerInfo; readonly state: ReplicaState }[]): void {
    const isKept = ({ listed, state }: (typeof states)[number]): boolean =>
      state.running && this.#isSteady(listed) && !this.#changed.has(listed.Id) && !this.#changed.has(undefined)
    const known = this.#known
    const learn = ({ listed, state }: (typeof states)[number]): [string, Known] => {
      const before = known.get(listed.Id)
      const askedMs = before?.state === state ? before.askedMs : this.#lookedMs - spreadMs(listed.Id)
      return [listed.Id, { state, address: addressOf(listed), askedMs }]
    }
    this.#known = new Map(states.filter(isKept).map(learn))
  }

  #isSteady(listed: ContainerInfo): boolean {
    return isLongUp(listed) || (this.#isTold && listed.State === 'running')
  }
}

/** Spreads the ages, so that containers do not all expire in the same look. */
const spreadMs = (id: string): number => (Number.parseInt(id.slice(0, 4), 16) || 0) % (oldestMs / 2)

/**
 * Accepts `Up 3 minutes`, but not `Up 12 seconds`, `Up Less than a second` or `Up 2 hours
 * (Paused)`.
 */
export const isLongUp = ({ State, Status }: Pick<ContainerInfo, 'State' | 'Status'>): boolean =>
  State === 'running' && /^Up (?:About )?(?:an?|\d+) (?:minute|hour|day|week|month|year)s?$/.test(Status)

const addressOf = ({ NetworkSettings }: ContainerInfo): string =>
  Object.values(NetworkSettings?.Networks ?? {})
    .map(({ IPAddress }) => IPAddress)
    .join()
