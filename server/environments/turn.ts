import { type Schedule, sideOf } from './schedule.ts'

/** The rule of an environment, as far as it decides when it acts. */
export interface TimedRule extends Schedule {
  readonly version: number
  readonly updated_at: Date
}

/** The change of sides that was acted on last. */
export interface LastTurn {
  readonly rule_version: number
  readonly edge: Date
  readonly is_within: boolean
}

export interface Turn extends LastTurn {
  /** Null: the schedule never changes sides. */
  readonly next_edge: Date | null
  /** The environment is to be brought to this side now; what was asked of it after `edge` holds. */
  readonly isDue: boolean
}

/**
 * An edge as far ahead as this comes from a clock that went wrong, not from one that was put back
 * an hour.
 */
export const wrongMs = 86_400_000

/**
 * Pure: what the rule demands now. Each edge is acted on once: one that is not later than the last
 * is none, so a clock that is put back repeats nothing. A rule that was changed, or is seen for the
 * first time, is an edge where it changes sides.
 */
export function turnAt(rule: TimedRule, last: LastTurn | undefined, now: Date): Turn {
  const known = last && last.edge.getTime() - now.getTime() <= wrongMs ? last : undefined
  const { isWithin, since, until } = sideOf(rule, now)
  const isChanged = known?.rule_version !== rule.version
  const turnsSide = known ? known.is_within !== isWithin : !isWithin
  const former = known?.edge.getTime() ?? Number.NEGATIVE_INFINITY
  // A clock that was ahead when the rule was written must not make it one of the future.
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
