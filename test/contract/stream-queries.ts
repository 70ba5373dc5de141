import type { Stream } from '../../contract/streams.ts'
import type { Platform } from '../support/platform.ts'

/** The ids of one tenant that the query of a stream can name. */
export interface Place {
  readonly organization: string
  readonly cluster: string
  readonly project: string
  readonly environment: string
  readonly service: string
}
export const placeOf = ({ organizationId, clusterId, objects }: Platform['a']): Place => ({
  organization: organizationId,
  cluster: clusterId,
  project: objects.projectId,
  environment: objects.environmentId,
  service: objects.applicationId,
})
const others = {
  service_type: 'APPLICATION',
  infra_component_type: 'NGINX',
  flavor: 'REGULAR_PRIVILEGE',
  tty_width: '80',
  tty_height: '24',
  port: '8080',
}

export const requiredOf = ({ query }: Stream): readonly string[] => query.required ?? []

/** Returns a complete query: its required members, and the environment if it can be named. */
export function queryOf(stream: Stream, place: Place, change: Record<string, string | undefined> = {}): string {
  const names = Object.keys(stream.query.properties).filter(
    (name) => requiredOf(stream).includes(name) || (name === 'environment' && stream.targets.includes('environment')),
  )
  const known: Record<string, string> = { ...place, ...others }
  const all = { ...Object.fromEntries(names.map((name) => [name, known[name]])), ...change }
  const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return `?${new URLSearchParams(Object.fromEntries(given))}`
}
