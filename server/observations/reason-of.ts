import type { Observation } from '../engines/index.ts'

/** Why a service does not run as it should; null for an observation that needs no reason. */
export function reasonOf(seen: Observation): string | null {
  if (seen.state === 'absent') return 'No container of it exists on the engine. It is being started again.'
  const reason = seen.reason?.trim() ? seen.reason : undefined
  return reason ?? (seen.state === 'failing' ? 'It fails, and the engine gives no reason. See its log.' : null)
}
