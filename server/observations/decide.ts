import type { Endpoint, Observation, Replica } from '../engines/index.ts'

/** What should run of a service. */
export interface Wish {
  /** Null: nothing. */
  readonly release_id: string | null
  /** How many replicas of it; 0: it sleeps. */
  readonly replicas: number
}

/** What has to be done for one service that nobody is busy with. */
export type Repair =
  /** Something that should run is missing: start the release again, which adopts what is there. */
  | { readonly kind: 'start'; readonly release: string }
  /** More replicas run than should: end those that leave, once nothing is open on them. */
  | { readonly kind: 'shrink'; readonly release: string; readonly staying: Endpoint[]; readonly leaving: Replica[] }
  /** Something runs that should not: end all but `keep`. */
  | { readonly kind: 'retire'; readonly keep: string | undefined }

/** Pure: the difference between what should run and what was seen. */
export function decideRepair(wish: Wish, seen: Observation): Repair | undefined {
  const { release_id: release, replicas: count } = wish
  const start = release === null || count === 0 ? undefined : ({ kind: 'start', release } as const)
  if (seen.state === 'absent') return start
  const others = seen.replicas.some((replica) => replica.release !== release)
  if (release === null) return others ? { kind: 'retire', keep: undefined } : undefined
  const own = seen.replicas.filter((replica) => replica.release === release)
  if (own.length === 0 && start) return start
  if (others) return { kind: 'retire', keep: release }
  if (own.length > count) return shrink(release, own, count)
  if (start && own.some(({ isChanged }) => isChanged)) return start
  // The engine itself restarts what exits; only what is gone or was stopped by hand has to be
  // started from here.
  const missing = seen.state === 'stopped' || seen.state === 'starting'
  const none = own.every((replica) => !replica.running && replica.exits === 0)
  return missing && (none || seen.state === 'stopped' || seen.reason !== undefined) ? start : undefined
}

/**
 * What was seen, held against how many replicas there should be now: engines know only how many
 * there were at a start.
 */
export function judge(wish: Wish, seen: Observation): Observation {
  const { release_id: release, replicas: count } = wish
  if (release === null) return seen
  if (seen.state === 'absent') return count === 0 ? { state: 'stopped', release, replicas: [] } : seen
  if (seen.release !== release || seen.state === 'failing') return seen
  const own = seen.replicas.filter((replica) => replica.release === release)
  const up = own.filter(({ running }) => running).length
  const missing = count - own.length
  const { reason: _, ...plain } = seen
  if (missing > 0 && own.length > 0) {
    const reason = `${missing} of ${count} replicas ${missing === 1 ? 'is' : 'are'} missing`
    return { ...plain, state: up > 0 ? 'starting' : 'stopped', reason }
  }
  if (count === 0) return { ...plain, state: up > 0 ? 'running' : 'stopped' }
  return up >= count ? { ...plain, state: 'running' } : seen
}

/** What runs, and cannot be reached all the same, runs with the reason. */
export const withTrouble = (seen: Observation, trouble: string | undefined): Observation =>
  seen.state === 'running' && trouble !== undefined ? { ...seen, reason: trouble } : seen

/** A service that must not run fails with the reason, whether or not its replicas have ended. */
export const withStop = (seen: Observation, wish: Wish & { readonly stop_reason: string | null }): Observation =>
  wish.stop_reason === null || wish.release_id === null
    ? seen
    : {
        state: 'failing',
        release: wish.release_id,
        replicas: seen.state === 'absent' ? [] : seen.replicas,
        reason: wish.stop_reason,
      }

/** Where the wanted release answers now, on the `count` replicas that come first. */
export const liveEndpoints = (wanted: string, seen: Observation, count = Number.POSITIVE_INFINITY): Endpoint[] =>
  seen.state === 'absent'
    ? []
    : inOrder(seen.replicas.filter((replica) => replica.release === wanted && replica.running))
        .slice(0, count)
        .flatMap(({ endpoints }) => endpoints)

/** Those that do not run leave first, then the latest. */
function shrink(release: string, own: readonly Replica[], count: number): Repair {
  const ranked = [...inOrder(own.filter(({ running }) => running)), ...inOrder(own.filter(({ running }) => !running))]
  return {
    kind: 'shrink',
    release,
    staying: ranked.slice(0, count).flatMap(({ endpoints }) => endpoints),
    leaving: ranked.slice(count),
  }
}

/** By their numbers, with which their names end. */
const inOrder = (replicas: readonly Replica[]): Replica[] =>
  replicas.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
