import type { Clock } from '../lib/clock.ts'

/** A deployment that has ended. */
export interface EndedDeployment {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly seconds: number
}

/** The deployments with one action and status that ended since the start of the process. */
export interface EndedDeployments {
  readonly action: string
  readonly status: string
  readonly count: number
  readonly seconds: number
}

/** Deployments that ended within this time are known by their ids. */
const knownMs = 3600 * 1000

/**
 * Counts each deployment that ends once, also if a clock goes back, or a transaction that ended a
 * deployment commits after a later one. The numbers only grow. A clock that goes back by more than
 * an hour hides the deployments that ended since the last call.
 */
export class EndedCounter {
  readonly #clock: Clock
  readonly #list: (from: Date) => Promise<readonly EndedDeployment[]>
  readonly #sums = new Map<string, EndedDeployments>()
  /** Deployments that ended before are counted, or ended before the start. */
  #from: Date
  /** The deployments after that which are counted. */
  #known: ReadonlySet<string> = new Set()

  /** `list` returns the deployments that ended after a time. */
  constructor(clock: Clock, list: (from: Date) => Promise<readonly EndedDeployment[]>) {
    this.#clock = clock
    this.#list = list
    this.#from = clock.now()
  }

  /** Counts up to now. Calls must not overlap. */
  async count(): Promise<readonly EndedDeployments[]> {
    const now = this.#clock.now()
    if (now < this.#from) {
      this.#known = idsOf(await this.#list(now))
      this.#from = now
    }
    const ended = await this.#list(this.#from)
    for (const one of ended) if (!this.#known.has(one.id)) this.#add(one)
    const from = new Date(Math.max(this.#from.getTime(), now.getTime() - knownMs))
    this.#known = idsOf(ended)
    this.#from = from
    return [...this.#sums.values()]
  }

  #add({ action, status, seconds }: EndedDeployment): void {
    const key = `${action} ${status}`
    const last = this.#sums.get(key) ?? { action, status, count: 0, seconds: 0 }
    this.#sums.set(key, { ...last, count: last.count + 1, seconds: last.seconds + seconds })
  }
}

const idsOf = (ended: readonly EndedDeployment[]): ReadonlySet<string> => new Set(ended.map(({ id }) => id))
