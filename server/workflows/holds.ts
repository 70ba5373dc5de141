/** A workflow is parked after it lost this many leases in a row while the thread was blocked. */
export const mostHolds = 3
/** A workflow that failed to be claimed this often has ended or runs elsewhere. */
const mostMisses = 60

interface Suspect {
  holds: number
  misses: number
}

/**
 * Counts how often workflows lost their lease because this process was busy on its own thread. It
 * is unknown which of the running workflows blocked the thread, so all of them become suspects.
 * Suspects then start one at a time, so only the one that blocks the thread again is counted again.
 */
export class Holds {
  readonly #suspects = new Map<string, Suspect>()

  /** The thread was blocked, and these workflows lost their leases. */
  note(ids: Iterable<string>): void {
    for (const id of ids) {
      const known = this.#suspects.get(id)
      this.#suspects.set(id, { holds: (known?.holds ?? 0) + 1, misses: 0 })
    }
  }

  count(id: string): number {
    return this.#suspects.get(id)?.holds ?? 0
  }

  /** The workflow has ended or recorded a step, so it makes progress. */
  forget(id: string): void {
    this.#suspects.delete(id)
  }

  /**
   * Returns the suspects that must not be claimed now: all but one at most, the next in turn.
   * `begun`: the workflows claimed within the last lease.
   */
  kept(begun: ReadonlySet<string>): string[] {
    const ids = [...this.#suspects.keys()]
    return ids.some((id) => begun.has(id)) ? ids : ids.slice(1)
  }

  /** The suspect in turn could not be claimed, so the next one gets its turn. */
  missed(claimed: ReadonlySet<string>): void {
    const [first] = this.#suspects
    if (!first || claimed.has(first[0])) return
    const [id, suspect] = first
    this.#suspects.delete(id)
    if (++suspect.misses < mostMisses) this.#suspects.set(id, suspect)
  }
}

/**
 * Whether the process itself was busy in a gap between two ticks. While a machine sleeps or a
 * process is stopped, almost no CPU time is used. On a crowded machine a busy thread gets much less
 * than all of it.
 */
export const isOwnHold = (gapMs: number, cpuMs: number): boolean => cpuMs >= gapMs / 10
