import type { ConnectionLimits } from '@quayside/contract/connection-shares.ts'
import type { Session } from '../figure.ts'
import { type Front, missingPrograms, startHaproxy, startOwn, startUpstream } from './programs.ts'

/** Our router and HAProxy alone in front of the same upstream. */
export interface Both {
  readonly own: Front
  readonly haproxy: Front
}

/**
 * Starts our router behind HAProxy, and HAProxy alone. Without an upstream, both lead to one that
 * answers from memory. Returns undefined and prints the reason if this machine lacks a program.
 */
export async function startBoth(
  session: Session,
  options: { readonly upstream?: number; readonly connections?: ConnectionLimits } = {},
): Promise<Both | undefined> {
  const missing = await missingPrograms()
  if (missing.length > 0) {
    session.say(`The fronts are not measured, because this machine lacks ${missing.join(', ')}.`)
    return undefined
  }
  const upstream = options.upstream ?? (await startUpstream(session))
  const haproxy = await startHaproxy(session, upstream)
  return { own: await startOwn(session, upstream, options.connections), haproxy }
}
