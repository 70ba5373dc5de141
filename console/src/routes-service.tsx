import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { isKind, type KindName } from './api/kinds.ts'
import { environment, services, stageNames, stages } from './api/reads.ts'
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
  return [lines] as const
}
