import type { ChartService } from './chart.ts'
import type { ChartPod, Endpoint, Observation, Replica } from './observation.ts'

/** A public port of a chart, as in its settings. A Service or labels identify its pods. */
export interface ChartPort {
  readonly name: string
  /** A port of the Service, or of the pods. */
  readonly internal_port: number
  /** The namespace of the Service. Only that of the environment is possible. */
  readonly namespace?: string
  readonly service_name?: string
  readonly service_selectors?: readonly { readonly key: string; readonly value: string }[]
}

/** The pods of a port: their labels, and their port or its name. */
interface PodsOfPort {
  readonly labels: Readonly<Record<string, string>>
  readonly target: number | string
}

/**
 * Returns the pods to which a port leads, or why it leads to none. The Services are those of the
 * chart alone. Pure.
 */
export function podsOfPort(port: ChartPort, services: readonly ChartService[]): PodsOfPort | { problem: string } {
  const { name, internal_port, service_name, service_selectors = [] } = port
  if (service_name === undefined) return { labels: labelsIn(service_selectors), target: internal_port }
  const service = services.find((one) => one.name === service_name)
  if (!service) {
    const others = services.map((one) => `"${one.name}"`).join(', ')
    const advice = others === '' ? 'The chart has no Service' : `The Services of the chart are ${others}`
    return { problem: `port "${name}" names the Service "${service_name}", which the chart does not have. ${advice}` }
  }
  if (service.selectors.length === 0) {
    return { problem: `port "${name}" names the Service "${service_name}", which selects no pods` }
  }
  const found = service.ports.find(({ port: number }) => number === internal_port)
  if (found) return { labels: labelsIn(service.selectors), target: found.target }
  const others = service.ports.map(({ port: number }) => number).join(', ')
  return {
    problem: `port "${name}" is ${internal_port}, which the Service "${service_name}" does not have. It has ${others}`,
  }
}

const labelsIn = (selectors: readonly { readonly key: string; readonly value: string }[]) =>
  Object.fromEntries(selectors.map(({ key, value }) => [key, value]))

/**
 * Returns the observation of a chart with the endpoints of its public ports: its ready pods. A port
 * whose Service is missing has none. Pure.
 */
export function withChartEndpoints(seen: Observation, ports: readonly ChartPort[]): Observation {
  if (seen.state === 'absent') return seen
  const { services = [], ...rest } = seen
  const found = ports.flatMap((port) => {
    const pods = podsOfPort(port, services)
    return 'problem' in pods ? [] : [{ port, ...pods }]
  })
  const replicas = seen.replicas.map(({ pod, ...replica }) => ({
    ...replica,
    endpoints: found.flatMap(({ port, labels, target }) => endpointOf({ ...replica, pod }, port, labels, target)),
  }))
  return { ...rest, replicas }
}

function endpointOf(
  { name: replica, pod }: Pick<Replica, 'name'> & { readonly pod: ChartPod | undefined },
  { name, internal_port: port }: ChartPort,
  pods: Readonly<Record<string, string>>,
  target: number | string,
): Endpoint[] {
  if (pod?.address === undefined) return []
  if (Object.entries(pods).some(([key, value]) => pod.labels[key] !== value)) return []
  const own = typeof target === 'number' ? target : pod.ports[target]
  return own === undefined ? [] : [{ replica, address: pod.address, port: own, of: { name, port, pods } }]
}
