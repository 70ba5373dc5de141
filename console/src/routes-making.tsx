import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { isKind, type KindName } from './api/kinds.ts'
import { environment } from './api/reads.ts'
import { choices } from './api/reads-making.ts'
import type { organization } from './routes.tsx'

/** Reads the kind of service in an address. */
function kindOf(name: string): KindName {
  if (!isKind(name)) throw new Error(`"${name}" is no kind of service`)
  return name
}

/** The pages that make and change things. They are loaded when somebody opens them. */
export function makingRoutes(parent: typeof organization) {
  const getParentRoute = () => parent
  const newService = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/new',
    loader: ({ params }) => queries.ensureQueryData(environment(params.environmentId)),
    component: lazyRouteComponent(() => import('./pages/NewServicePage.tsx'), 'NewServicePage'),
  })
  const newServiceForm = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/new/$kind',
    params: { parse: (given) => ({ ...given, kind: kindOf(given.kind) }), stringify: (given) => given },
    loader: ({ params: { organizationId, environmentId } }) =>
      Promise.all([
        queries.ensureQueryData(environment(environmentId)),
        queries.ensureQueryData(choices(organizationId, environmentId)),
      ]),
    component: lazyRouteComponent(() => import('./pages/NewServiceForm.tsx'), 'NewServiceForm'),
  })
  return [newService, newServiceForm] as const
}
