import { findMembers, parseList, parsePart } from './json-parts.ts'

/** The members of a plan that a summary needs. */
const members = ['resource_changes', 'resource_drift', 'output_changes'] as const

/** A resource of a plan has a few hundred bytes at least. */
const mostResources = 100_000

/**
 * Reads a plan in the form of `show -json` for a summary. Its resources are parsed one by one while
 * they are listed, because the whole plan also has every value of the state and of the sources.
 * Undefined if it is not an object. Throws ForeignJsonProblem.
 */
export function readPlan(json: Uint8Array): object | undefined {
  const found = findMembers(json, members)
  if (!found) return undefined
  const [resources, drift, outputs] = members.map((name) => found.get(name))
  return {
    ...(resources && { resource_changes: parseList(json, resources, mostResources) }),
    ...(drift && { resource_drift: parseList(json, drift, mostResources) }),
    ...(outputs && { output_changes: parsePart(json, outputs) }),
  }
}
