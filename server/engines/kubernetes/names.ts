import { createHash } from 'node:crypto'
import { parseId } from '../../lib/id.ts'
import { EngineError, type Release } from '../engine.ts'

/** The longest name of an object whose name is also a host name. */
const longestName = 63

/** Names contain only ids: a name of a user could be too long, or mean something. */
export const namespaceOf = (environment: string): string => `quayside-${safeId(environment)}`

/** Whether a namespace is that of an environment. Anybody may write its id into a label. */
export const isHome = (namespace: string | undefined, environment = ''): boolean =>
  namespace === `quayside-${environment}`

/**
 * Returns the name of the objects of a release. The last digits of ids are random. Copies of a
 * service share the ids of its releases, so both ids are needed.
 */
export const releaseName = ({ id, service }: Pick<Release, 'id' | 'service'>): string =>
  `s-${safeId(service).slice(-12)}-${safeId(id).slice(-12)}`

export const volumeName = (volume: string): string => `volume-${safeId(volume)}`

/** Returns the name of the objects of one run. The name is unique in its namespace. */
export function runName(run: string): string {
  if (!/^[0-9a-z][0-9a-z-]{0,79}$/.test(run)) throw new EngineError('refused', 'the engine received an invalid run id')
  const name = `run-${run}`
  // The pod of a job gets a suffix of six characters.
  if (name.length <= longestName - 6) return name
  return `run-${createHash('sha256').update(run).digest('hex').slice(0, 40)}`
}

export function safeId(id: string): string {
  const parsed = parseId(id)
  if (parsed === undefined) throw new EngineError('refused', 'the engine received an invalid id')
  return parsed
}
