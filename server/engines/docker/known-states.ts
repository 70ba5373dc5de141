import type { ContainerInfo } from './docker-api.ts'
import type { ReplicaState } from './replica-state.ts'

interface Known {
  readonly state: ReplicaState
  readonly address: string
  /** When the engine was asked. */
  readonly askedMs: number
}

/** So long after the last look nothing is taken for granted. */
const longestGapMs = 20_000
/**
 * A list does not show limits that somebody changed. That is told as it happens; should it get
 * lost, each container is asked so often.
 */
const oldestMs = 300_000

/**
 * What was learned of containers that run on unchanged, so that a look at all of them costs one
 * list and not a question for each. While the daemon tells of what happens, a container to which
 * nothing happened is as it was. Else the list tells since when it is up, in words: what is up for
 * minutes has not been restarted since a look a moment ago.
 */
export class KnownStates {
  #known = new Map<string, Known>()
  #lookedMs = Number.NEGATIVE_INFINITY
  #isTold = false
  /** What happened since the look began: an answer may be older. */
  readonly #changed = new Set<string | undefined>()

  /**
   * Begins a look at everything; `nowMs` by a monotonic clock; `isTold`: `forget` is called with
   * what happens.
   */
  begin(nowMs: number, isTold: boolean): void {
    if (nowMs - this.#lookedMs > longestGapMs) this.#known.clear()
    this.#lookedMs = nowMs
    this.#isTold = isTold
    this.#changed.clear()
  }

  /** Something happened to this container, or nobody knows what happened to which one. */
  forget(id: string | undefined): void {
    this.#changed.add(id)
    if (id === undefined) this.#known.clear()
    else this.#known.delete(id)
  }

  /**
   * The state of a listed container where it can only be what it was; undefined: it has to be
   * asked.
   */
  find(listed: ContainerInfo): ReplicaState | undefined {
    const known = this.#known.get(listed.Id)
    const isYoung = known !== undefined && this.#lookedMs - known.askedMs < oldestMs
    return isYoung && this.#isSteady(listed) && known.address === addressOf(listed) ? known.state : undefined
  }

  /** What was asked, from now on known; all others are forgotten. */
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

/** So that those that were asked together are not asked together again. */
const spreadMs = (id: string): number => (Number.parseInt(id.slice(0, 4), 16) || 0) % (oldestMs / 2)

/** `Up 3 minutes`, and not `Up 12 seconds`, `Up Less than a second` or `Up 2 hours (Paused)`. */
export const isLongUp = ({ State, Status }: Pick<ContainerInfo, 'State' | 'Status'>): boolean =>
  State === 'running' && /^Up (?:About )?(?:an?|\d+) (?:minute|hour|day|week|month|year)s?$/.test(Status)

const addressOf = ({ NetworkSettings }: ContainerInfo): string =>
  Object.values(NetworkSettings?.Networks ?? {})
    .map(({ IPAddress }) => IPAddress)
    .join()
