/** Waiting work of one name, and of the names below it. */
interface Branch {
  readonly branches: Map<string, Branch>
  readonly work: (() => void)[]
  waiting: number
}

const newBranch = (): Branch => ({ branches: new Map(), work: [], waiting: 0 })

/**
 * Waiting work that takes turns by the names of its path: one of each first name in turn, of these
 * one of each second name, and so on. `most` limits the waiting work of one name, for each place of
 * a path. All paths have the same length.
 */
export class Turns {
  readonly #most: readonly number[]
  readonly #root = newBranch()

  constructor(most: readonly number[]) {
    this.#most = most
  }

  /** Adds work. Returns false if too much waits for one of the names. */
  add(path: readonly string[], work: () => void): boolean {
    const known: Branch[] = []
    for (const name of path) {
      const next = (known.at(-1) ?? this.#root).branches.get(name)
      if (!next) break
      known.push(next)
    }
    if (known.some(({ waiting }, depth) => waiting >= (this.#most[depth] ?? 0))) return false
    let branch = this.#root
    for (const name of path) {
      const next = branch.branches.get(name) ?? newBranch()
      branch.branches.set(name, next)
      next.waiting++
      branch = next
    }
    branch.work.push(work)
    return true
  }

  /** Removes and returns the next work of a first name that may have a turn now. */
  next(mayHave: (first: string) => boolean): (() => void) | undefined {
    for (const first of this.#root.branches.keys()) if (mayHave(first)) return takeFrom(this.#root, first)
    return undefined
  }
}

/** Takes work of a name below a branch. The name goes to the end of the row. */
function takeFrom(branch: Branch, name: string): (() => void) | undefined {
  const next = branch.branches.get(name)
  if (!next) return undefined
  branch.branches.delete(name)
  next.waiting--
  if (next.waiting > 0) branch.branches.set(name, next)
  const [first] = next.branches.keys()
  return first === undefined ? next.work.shift() : takeFrom(next, first)
}
