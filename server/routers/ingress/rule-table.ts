import type { RouteRules } from '@quayside/contract/routes.ts'
import type { UnsupportedRule } from './rule-mapping.ts'

/** What a controller needs for one rule, or why it cannot apply it. */
type Outcome<P> = P | { readonly unsupported: string }

/** How a controller applies each rule. A rule without an entry does not compile. */
export type RuleTable<P, S> = {
  readonly [R in keyof RouteRules]-?: (value: NonNullable<RouteRules[R]>, setting: S) => Outcome<P>
}

/** The entry of a rule that a controller cannot apply. `reason` is the end of a sentence. */
export const never = (reason: string) => (): { readonly unsupported: string } => ({ unsupported: reason })

/**
 * Maps the rules of a route by a table, in the order of the table. Returns their parts and the
 * rules without one.
 */
export function mapByTable<P, S>(
  table: RuleTable<P, S>,
  rules: RouteRules,
  setting: S,
): { readonly parts: readonly P[]; readonly unsupported: readonly UnsupportedRule[] } {
  const parts: P[] = []
  const unsupported: UnsupportedRule[] = []
  // The type of the table makes the value fit the entry of the same key.
  for (const [rule, map] of Object.entries(table) as [keyof RouteRules, (value: unknown, setting: S) => Outcome<P>][]) {
    const value = rules[rule]
    if (value === undefined) continue
    const outcome = map(value, setting)
    if (typeof outcome === 'object' && outcome !== null && 'unsupported' in outcome) {
      unsupported.push({ rule, reason: String(outcome.unsupported) })
    } else parts.push(outcome as P)
  }
  return { parts, unsupported }
}
