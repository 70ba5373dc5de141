import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { customDomains, domainOperations } from './api/domains.ts'
import { isKind, type KindName } from './api/kinds.ts'
import { environment, links, services, stageNames, stages } from './api/reads.ts'
import { serviceHistory } from './api/reads-history.ts'
import { rangeIn, type TrafficRange } from './api/reads-traffic.ts'
import { linesSearchOf } from './pages/lines-search.ts'
import type { organization } from './routes-frame.tsx'

/** Reads the kind of service in an address. */
function kindOf(name: string): KindName {
  if (!isKind(name)) throw new Error(`"${name}" is no kind of service`)
  return name
}

const params = {
  parse: (given: { environmentId: string; kind: string; serviceId: string }) => ({
    ...given,
    kind: kindOf(given.kind),
  }),
  stringify: (given: { environmentId: string; kind: KindName; serviceId: string }) => given,
}

/** Begins the reads that every page of a service has. */
const readService = (id: string) =>
  Promise.all([
    queries.ensureQueryData(environment(id)),
    queries.ensureQueryData(services(id)),
    queries.ensureQueryData(stages(id)),
    queries.ensureQueryData(stageNames(id)),
  ])

/** The pages of a service that are loaded when somebody opens them. */
export function serviceRoutes(parent: typeof organization) {
  const lines = createRoute({
    getParentRoute: () => parent,
    path: 'environments/$environmentId/$kind/$serviceId/lines',
    params,
    validateSearch: linesSearchOf,
    loader: ({ params: { environmentId } }) => readService(environmentId),
    component: lazyRouteComponent(() => import('./pages/ServiceLinesPage.tsx'), 'ServiceLinesPage'),
  })
  const deployments = createRoute({
    getParentRoute: () => parent,
    path: 'environments/$environmentId/$kind/$serviceId/deployments',
    params,
    validateSearch: twoVersionsOf,
    loader: ({ params: { environmentId, kind, serviceId } }) =>
      Promise.all([
        readService(environmentId),
        queries.ensureQueryData(serviceHistory(environmentId, kind, serviceId)),
      ]),
    component: lazyRouteComponent(() => import('./pages/ServiceDeploymentsPage.tsx'), 'ServiceDeploymentsPage'),
  })
  const shell = createRoute({
    getParentRoute: () => parent,
    path: 'environments/$environmentId/$kind/$serviceId/shell',
    params,
    loader: ({ params: { environmentId } }) => readService(environmentId),
    component: lazyRouteComponent(() => import('./pages/ServiceShellPage.tsx'), 'ServiceShellPage'),
  })
  const domains = createRoute({
    getParentRoute: () => parent,
    path: 'environments/$environmentId/$kind/$serviceId/domains',
    params,
    loader: ({ params: { environmentId, kind, serviceId } }) => {
      const operations = domainOperations[kind]
      return Promise.all([
        readService(environmentId),
        queries.ensureQueryData(links(environmentId)),
        operations && queries.fetchQuery(customDomains(environmentId, operations, serviceId)),
      ])
    },
    component: lazyRouteComponent(() => import('./pages/ServiceDomainsPage.tsx'), 'ServiceDomainsPage'),
  })
  const metrics = createRoute({
    getParentRoute: () => parent,
    path: 'environments/$environmentId/$kind/$serviceId/metrics',
    params,
    validateSearch: trafficRangeOf,
    loader: ({ params: { environmentId } }) => readService(environmentId),
    component: lazyRouteComponent(() => import('./pages/ServiceMetricsPage.tsx'), 'ServiceMetricsPage'),
  })
  return [lines, deployments, shell, domains, metrics] as const
}

/** Pure: reads the range of the numbers about traffic. */
const trafficRangeOf = ({ range }: Record<string, unknown>): { readonly range?: TrafficRange } =>
  range === undefined ? {} : { range: rangeIn(range) }

interface TwoVersions {
  readonly from?: string
  readonly to?: string
}

/** Pure: reads the executions that an address compares. */
const twoVersionsOf = ({ from, to }: Record<string, unknown>): TwoVersions =>
  from === undefined || to === undefined ? {} : { from: String(from), to: String(to) }
