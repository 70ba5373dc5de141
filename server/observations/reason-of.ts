import type { Observation } from '../engines/index.ts'

/** Returns why a service does not run as it should. Null if the observation needs no reason. */
export function reasonOf(seen: Observation): string | null {
  if (seen.state === 'absent') return 'Its container no longer exists on the engine. It is being started again.'
  const reason = seen.reason?.trim() ? seen.reason : undefined
  return reason ?? (seen.state === 'failing' ? 'It fails, and the engine reports no reason. See its log.' : null)
}
