import type { ChartService } from '../../engine.ts'
import { plain, type Service } from '../client/index.ts'

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
