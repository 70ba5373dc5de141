import { type Schedule, sideOf } from './schedule.ts'

/** The parts of an environment's rule that decide when it acts. */
export interface TimedRule extends Schedule {
  readonly version: number
  readonly updated_at: Date
}

/** The last edge that the rule acted on. */
export interface LastTurn {
  readonly rule_version: number
  readonly edge: Date
  readonly is_within: boolean
}

export interface Turn extends LastTurn {
  /** Null if the schedule has no edges. */
  readonly next_edge: Date | null
  /** Whether to bring the environment to this side now. Requests after `edge` are respected. */
  readonly isDue: boolean
}

/** An edge this far ahead comes from a wrong clock, not from one that was put back an hour. */
export const wrongMs = 86_400_000

/**
 * Pure: returns what the rule requires now. The rule acts on each edge once. Only an edge later
 * than the last one counts, so a clock that is put back repeats nothing. A new or changed rule
 * creates an edge if it changes the side.
 */
export function turnAt(rule: TimedRule, last: LastTurn | undefined, now: Date): Turn {
  const known = last && last.edge.getTime() - now.getTime() <= wrongMs ? last : undefined
  const { isWithin, since, until } = sideOf(rule, now)
  const isChanged = known?.rule_version !== rule.version
  const turnsSide = known ? known.is_within !== isWithin : !isWithin
  const former = known?.edge.getTime() ?? Number.NEGATIVE_INFINITY
  // If the clock was ahead when the rule was written, its change must not be in the future.
  const changedAt = Math.min(rule.updated_at.getTime(), now.getTime())
  const edges = [
    ...(since && since.getTime() > former ? [since.getTime()] : []),
    ...(isChanged && turnsSide ? [changedAt] : []),
  ]
  const isDue = edges.length > 0
  const edge = isDue ? Math.max(...edges) : (known?.edge.getTime() ?? changedAt)
  return {
    rule_version: rule.version,
    edge: new Date(edge),
    is_within: isDue || !known ? isWithin : known.is_within,
    next_edge: until ?? null,
    isDue,
  }
}
