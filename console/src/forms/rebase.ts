import { type Draft, isSame, type Json } from './draft.ts'

/** A draft on top of a record that somebody else has changed meanwhile. */
export interface Rebased {
  readonly draft: Draft
  /** The paths at which the draft now has the values of the other person. */
  readonly taken: readonly string[]
  /** The paths that both have changed. The draft keeps its values. */
  readonly kept: readonly string[]
}

const isObject = (value: Json): value is Draft => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Pure: moves the changes of a draft from the record on which it began to a newer one. Objects are
 * compared member by member, lists as a whole.
 */
export function rebase(base: Draft, mine: Draft, theirs: Draft): Rebased {
  const members: [string, Json][] = []
  const [taken, kept]: [string[], string[]] = [[], []]
  for (const name of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    const [before, own, other] = [base[name], mine[name], theirs[name]]
    if (isObject(before) && isObject(own) && isObject(other)) {
      const inner = rebase(before, own, other)
      members.push([name, inner.draft])
      taken.push(...inner.taken.map((path) => `${name}.${path}`))
      kept.push(...inner.kept.map((path) => `${name}.${path}`))
      continue
    }
    const isTheirs = !isSame(before, other) && isSame(before, own)
    members.push([name, isTheirs ? other : own])
    if (isTheirs) taken.push(name)
    else if (!isSame(before, other) && !isSame(own, other)) kept.push(name)
  }
  return { draft: Object.fromEntries(members), taken, kept }
}
