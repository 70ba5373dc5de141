/** After so many leases in a row that a workflow lost while the thread was held, it is parked. */
export const mostHolds = 3
/** A workflow that could not be claimed so often has ended, or runs elsewhere. */
const mostMisses = 60

interface Suspect {
  holds: number
  misses: number
}

/**
 * Counts how often workflows lost their lease because this process was busy on its own thread. Which of the running
 * workflows held the thread is unknown, so all of them become suspects, and suspects then begin one at a time: only the one
 * that holds the thread again is counted again.
 */
export class Holds {
  readonly #suspects = new Map<string, Suspect>()

  /** The thread was held, and these workflows lost their leases. */
  note(ids: Iterable<string>): void {
    for (const id of ids) {
      const known = this.#suspects.get(id)
      this.#suspects.set(id, { holds: (known?.holds ?? 0) + 1, misses: 0 })
    }
  }

  count(id: string): number {
    return this.#suspects.get(id)?.holds ?? 0
  }

  /** The workflow has ended, or has recorded a step: it does get on. */
  forget(id: string): void {
    this.#suspects.delete(id)
  }

  /**
   * The suspects that must not be claimed now. `begun`: the workflows claimed within the last lease. At most one suspect is
   * left out, the one whose turn it is.
   */
  kept(begun: ReadonlySet<string>): string[] {
    const ids = [...this.#suspects.keys()]
    return ids.some((id) => begun.has(id)) ? ids : ids.slice(1)
  }

  /** The suspect whose turn it was could not be claimed: the next one has its turn. */
  missed(claimed: ReadonlySet<string>): void {
    const [first] = this.#suspects
    if (!first || claimed.has(first[0])) return
    const [id, suspect] = first
    this.#suspects.delete(id)
    if (++suspect.misses < mostMisses) this.#suspects.set(id, suspect)
  }
}

/**
 * Whether the process itself was busy in a gap between two ticks. While a machine sleeps, or a process is stopped, next to no
 * time of the processor is used; on a crowded machine a busy thread gets far less than all of it.
 */
export const isOwnHold = (gapMs: number, cpuMs: number): boolean => cpuMs >= gapMs / 10
