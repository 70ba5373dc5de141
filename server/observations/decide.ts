import {
  type Endpoint,
  type EngineCapabilities,
  type Observation,
  type Replica,
  withChartEndpoints,
} from '../engines/index.ts'
import type { WishRow } from './observation-store.ts'

/** What should run of a service. */
export interface Wish {
  /** Null if nothing should run. */
  readonly release_id: string | null
  /** The number of replicas. 0 if the service is asleep. */
  readonly replicas: number
}

/** The repair of a service that no request acts on. */
export type Repair =
  /** A release that should run is missing. Starts it again, which adopts existing replicas. */
  | { readonly kind: 'start'; readonly release: string }
  /** Too many replicas run. Ends the leaving ones once they have no open requests. */
  | { readonly kind: 'shrink'; readonly release: string; readonly staying: Endpoint[]; readonly leaving: Replica[] }
  /** Something runs that should not. Ends all releases except `keep`. */
  | { readonly kind: 'retire'; readonly keep: string | undefined }

/**
 * Returns the repair that brings the observed state to the desired one. More than `most` replicas
 * are too many.
 */
export function decideRepair(wish: Wish, seen: Observation, most = wish.replicas): Repair | undefined {
  const { release_id: release, replicas: count } = wish
  const start = release === null || count === 0 ? undefined : ({ kind: 'start', release } as const)
  if (seen.state === 'absent') return start
  if (seen.isHeld) return undefined
  const others = seen.replicas.some((replica) => replica.release !== release)
  if (release === null) return others ? { kind: 'retire', keep: undefined } : undefined
  const own = seen.replicas.filter((replica) => replica.release === release)
  if (own.length === 0 && start) return start
  if (others) return { kind: 'retire', keep: release }
  if (own.length > most) return shrink(release, own, most)
  if (start && own.some(({ isChanged }) => isChanged)) return start
  // The engine restarts programs that exit. Only replicas that are gone or were stopped by hand
  // have to be started from here.
  const missing = seen.state === 'stopped' || seen.state === 'starting'
  const none = own.every((replica) => !replica.running && replica.exits === 0)
  return missing && (none || seen.state === 'stopped' || seen.reason !== undefined) ? start : undefined
}

/**
 * Returns from which number on replicas are too many. Above the least, an engine that scales by
 * load decides.
 */
export const mostReplicasOf = (
  { replicas, may_scale }: Wish & { readonly may_scale: boolean },
  { scalesByLoad }: Pick<EngineCapabilities, 'scalesByLoad'>,
): number => (scalesByLoad && may_scale && replicas > 0 ? Number.POSITIVE_INFINITY : replicas)

/**
 * Corrects an observation by the number of replicas that should run now. An engine knows only the
 * number at the start.
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

/**
 * Completes the observation of a chart, whose pods do not name a release. A chart without pods is
 * judged by its other objects. Pure.
 */
export function observationOfChart(
  { release_id: release, chart_ports: ports }: Pick<Wish, 'release_id'> & Partial<Pick<WishRow, 'chart_ports'>>,
  seen: Observation,
): Observation {
  if (release === null) {
    return seen.state === 'absent' || seen.replicas.length === 0 ? { state: 'absent' } : { ...seen, release: '' }
  }
  if (seen.state === 'absent') return { state: 'stopped', release, replicas: [], reason: goneText }
  const replicas = seen.replicas.map((replica) => ({ ...replica, release }))
  return withChartEndpoints({ ...seen, release, replicas }, ports ?? [])
}

const goneText = 'its objects are no longer on the cluster; deploy it again'

/** Adds the reason why a running service cannot be reached. */
export const withTrouble = (seen: Observation, trouble: string | undefined): Observation =>
  seen.state === 'running' && trouble !== undefined ? { ...seen, reason: trouble } : seen

/** Reports a service that must not run as failing, with the reason, even if its replicas ended. */
export const withStop = (seen: Observation, wish: Wish & { readonly stop_reason: string | null }): Observation =>
  wish.stop_reason === null || wish.release_id === null
    ? seen
    : {
        state: 'failing',
        release: wish.release_id,
        replicas: seen.state === 'absent' ? [] : seen.replicas,
        reason: wish.stop_reason,
      }

/** Returns the addresses of the desired release: of its first `count` running replicas. */
export const liveEndpoints = (wanted: string, seen: Observation, count = Number.POSITIVE_INFINITY): Endpoint[] =>
  seen.state === 'absent'
    ? []
    : inOrder(seen.replicas.filter((replica) => replica.release === wanted && replica.running))
        .slice(0, count)
        .flatMap(({ endpoints }) => endpoints)

/** Orders replicas for leaving: first those that do not run, then the newest. */
function shrink(release: string, own: readonly Replica[], count: number): Repair {
  const ranked = [...inOrder(own.filter(({ running }) => running)), ...inOrder(own.filter(({ running }) => !running))]
  return {
    kind: 'shrink',
    release,
    staying: ranked.slice(0, count).flatMap(({ endpoints }) => endpoints),
    leaving: ranked.slice(count),
  }
}

/** Orders replicas by the number at the end of their names. */
const inOrder = (replicas: readonly Replica[]): Replica[] =>
  replicas.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
