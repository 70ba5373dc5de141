import type { ChartService } from '../../engine.ts'
import { plain, type Service } from '../client/index.ts'
import { label } from '../labels.ts'
import { isHome } from '../names.ts'

/** A Service of a chart, with the service of the platform to which it belongs. */
export interface OwnedService extends ChartService {
  readonly service: string
}

/**
 * Reads a Service of a chart. Undefined for one outside of the namespace of its environment, to
 * which no public port leads. Pure.
 */
export function toOwnedService({ metadata, spec }: Service): OwnedService | undefined {
  const { labels = {}, namespace, name } = metadata
  if (!isHome(namespace, labels[label.environment])) return undefined
  return { ...toChartService(name, spec), service: labels[label.service] ?? '' }
}

/** Returns a Service as it is written in an object of Kubernetes. Pure. */
export function toChartService(name: string, spec: Service['spec']): ChartService {
  return {
    name: plain(name),
    type: plain(spec?.type ?? 'ClusterIP'),
    ports: (spec?.ports ?? []).map(({ name: own = '', port, targetPort }) => ({
      name: plain(own),
      port,
      target: typeof targetPort === 'string' ? plain(targetPort) : (targetPort ?? port),
    })),
    selectors: Object.entries(spec?.selector ?? {}).map(([key, value]) => ({ key: plain(key), value: plain(value) })),
  }
}
