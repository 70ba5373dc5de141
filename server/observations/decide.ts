import type { Endpoint, Observation } from '../engines/index.ts'

/** What has to be done for one service that nobody is busy with. */
export type Repair =
  /** Something that should run is missing: start the release again, which adopts what is there. */
  | { readonly kind: 'start'; readonly release: string }
  /** Something runs that should not: end all but `keep`. */
  | { readonly kind: 'retire'; readonly keep: string | undefined }

/** Pure: the difference between what should run and what was seen. */
export function decideRepair(wanted: string | null, seen: Observation): Repair | undefined {
  if (seen.state === 'absent') return wanted === null ? undefined : { kind: 'start', release: wanted }
  const others = seen.replicas.some((replica) => replica.release !== wanted)
  if (wanted === null) return { kind: 'retire', keep: undefined }
  const own = seen.replicas.filter((replica) => replica.release === wanted)
  if (own.length === 0) return { kind: 'start', release: wanted }
  if (others) return { kind: 'retire', keep: wanted }
  // The engine itself restarts what exits; only what is gone or was stopped by hand has to be started from here.
  const missing = seen.state === 'stopped' || seen.state === 'starting'
  const none = own.every((replica) => !replica.running && replica.exits === 0)
  return missing && (none || seen.state === 'stopped' || seen.reason !== undefined)
    ? { kind: 'start', release: wanted }
    : undefined
}

/** Where the wanted release answers now. */
export const liveEndpoints = (wanted: string, seen: Observation): Endpoint[] =>
  seen.state === 'absent'
    ? []
    : seen.replicas
        .filter((replica) => replica.release === wanted && replica.running)
        .flatMap(({ endpoints }) => endpoints)
