import { isPublished, routedPorts } from './kind-settings.ts'
import type { Settings } from './settings/branch.ts'

/** What a cluster can do with ports of services. */
export interface PortPlace {
  /** The name of the cluster. */
  readonly name: string
  /** Whether its engine publishes ports of databases. */
  readonly publishesPorts: boolean
  /** Whether its own ingress controller carries the traffic. */
  readonly hasController: boolean
}

/** Pure: returns why a cluster cannot open the public ports of a service; undefined if it can. */
export function portRefusal(settings: Settings, place: PortPlace): string | undefined {
  const { name, publishesPorts, hasController } = place
  if (isPublished(settings) && !publishesPorts) {
    return `accessibility must be PRIVATE on cluster "${name}": its engine publishes no ports of databases.`
  }
  if (!hasController) return undefined
  const port = routedPorts(settings).find(
    ({ publicly_accessible, protocol }) => publicly_accessible && (protocol === 'TCP' || protocol === 'UDP'),
  )
  return (
    port &&
    `ports: port ${port.internal_port} (${port.protocol}) must be private on cluster "${name}": its ingress ` +
      'controller carries HTTP only.'
  )
}
