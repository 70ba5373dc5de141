import { type ChartPort, podsOfPort } from '../../chart-ports.ts'
import type { ChartService, RenderedObject } from '../../engine.ts'
import type { Service } from '../client/index.ts'
import { toChartService } from './chart-service.ts'

/**
 * Returns why a public port leads to nothing of a chart, with the name of the object. Undefined if
 * all ports lead to something. Pure.
 */
export function refusalOfPorts(
  objects: readonly RenderedObject[],
  { ports, namespace }: { readonly ports: readonly ChartPort[]; readonly namespace: string },
): string | undefined {
  const services = objects.flatMap((object) => servicesOf(object, namespace))
  for (const port of ports) {
    if (port.namespace !== undefined && port.namespace !== namespace) {
      const where = `is in the namespace "${port.namespace}", and not in that of its environment`
      return `port "${port.name}" ${where}; remove it, or write "${namespace}"`
    }
    const pods = podsOfPort(port, services)
    if ('problem' in pods) return pods.problem
  }
  return undefined
}

/** Hooks are gone when the chart runs. */
function servicesOf({ kind, metadata, ...rest }: RenderedObject, namespace: string): ChartService[] {
  const isHook = metadata.annotations?.['helm.sh/hook'] !== undefined
  if (kind !== 'Service' || isHook || (metadata.namespace ?? namespace) !== namespace) return []
  return [toChartService(metadata.name, specOf(rest['spec']))]
}

/** Templates may render anything. The API server refuses what is not a Service. */
function specOf(value: unknown): Service['spec'] {
  const { selector, ports, type } = Object(value)
  return {
    ...(typeof type === 'string' && { type }),
    ...(isObject(selector) && { selector: Object.fromEntries(Object.entries(selector).map(([k, v]) => [k, `${v}`])) }),
    ...(Array.isArray(ports) && { ports: ports.filter(isPort) }),
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isPort = (value: unknown): value is { readonly port: number } => typeof Object(value).port === 'number'
