interface Named {
  readonly name: string
}

/** Something for each member of a list, created once while the member remains. */
export interface Each<U> {
  /** In the order of the members. The same array until the list changes. */
  readonly all: readonly U[]
}

/** Members that come and go. Each has a name of its own. */
export interface Roster<T extends Named> {
  /** The members in the order in which they came. The same array until something changes. */
  readonly all: readonly T[]
  find(name: string): T | undefined
  each<U>(create: (one: T) => U): Each<U>
}

/** A roster for its owner, who adds and removes members. */
export interface OpenRoster<T extends Named> extends Roster<T> {
  /** Throws if a member has the name. */
  add(one: T): void
  /** Does nothing if no member has the name. */
  remove(name: string): void
}

/** Creates a roster. Throws if two members have the same name. */
export function createRoster<T extends Named>(initial: readonly T[] = []): OpenRoster<T> {
  const byName = new Map<string, T>()
  let all: readonly T[] = []
  const add = (one: T): void => {
    if (byName.has(one.name)) throw new Error(`"${one.name}" is there twice`)
    byName.set(one.name, one)
    all = [...byName.values()]
  }
  initial.forEach(add)
  return {
    get all() {
      return all
    },
    find: (name) => byName.get(name),
    each: (create) => eachOf(() => all, create),
    add,
    remove: (name) => {
      if (byName.delete(name)) all = [...byName.values()]
    },
  }
}

/** Returns a function whose result is computed again only when `read` returns another value. */
export function sameUntil<T extends object, U>(read: () => T, compute: (value: T) => U): () => U {
  let last: { readonly value: T; readonly result: U } | undefined
  return () => {
    const value = read()
    if (last?.value !== value) last = { value, result: compute(value) }
    return last.result
  }
}

/**
 * Creates something for each member of a list that may change. `list` returns the same array until
 * it has changed.
 */
export function eachOf<T, U>(list: () => readonly T[], create: (one: T) => U): Each<U> {
  let seen: readonly T[] = []
  let created = new Map<T, U>()
  let all: readonly U[] = []
  const createdFor = (one: T): U => {
    const earlier = created.get(one)
    return earlier === undefined ? create(one) : earlier
  }
  return {
    get all() {
      const now = list()
      if (now === seen) return all
      created = new Map(now.map((one) => [one, createdFor(one)]))
      seen = now
      all = [...created.values()]
      return all
    },
  }
}
