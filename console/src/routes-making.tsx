import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { frameSearchOf } from './api/environment-search.ts'
import { isKind, type KindName } from './api/kinds.ts'
import { environment, services, stageNames, stages } from './api/reads.ts'
import { choices } from './api/reads-making.ts'
import { scopeOf, variables } from './api/reads-variables.ts'
import type { organization } from './routes-frame.tsx'

/** Reads the kind of service in an address. */
export function kindOf(name: string): KindName {
  if (!isKind(name)) throw new Error(`"${name}" is no kind of service`)
  return name
}

/** Begins the reads of pages that name the services of an environment. */
export const readServices = (id: string) =>
  Promise.all([
    queries.ensureQueryData(environment(id)),
    queries.ensureQueryData(services(id)),
    queries.ensureQueryData(stages(id)),
    queries.ensureQueryData(stageNames(id)),
  ])

type Parent = typeof organization

/** The source of a new service, and its form. */
function newServiceRoutes(parent: Parent) {
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

/** The variables that the services of an environment share. */
function sharedVariablesRoutes(parent: Parent) {
  const getParentRoute = () => parent
  const environmentVariables = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/variables',
    validateSearch: frameSearchOf,
    loader: ({ params: { environmentId } }) =>
      Promise.all([
        readServices(environmentId),
        queries.ensureQueryData(variables({ scope: 'ENVIRONMENT', parentId: environmentId })),
      ]),
    component: lazyRouteComponent(
      () => import('./pages/environment/EnvironmentVariablesPage.tsx'),
      'EnvironmentVariablesPage',
    ),
  })
  return [environmentVariables] as const
}

/** The variables and the settings of a service. */
function serviceRoutes(parent: Parent) {
  const getParentRoute = () => parent
  const serviceVariables = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/variables',
    params: { parse: (given) => ({ ...given, kind: kindOf(given.kind) }), stringify: (given) => given },
    loader: ({ params: { environmentId, kind, serviceId } }) => {
      const scope = scopeOf[kind]
      return Promise.all([
        readServices(environmentId),
        scope && queries.ensureQueryData(variables({ scope, parentId: serviceId })),
      ])
    },
    component: lazyRouteComponent(() => import('./pages/ServiceVariablesPage.tsx'), 'ServiceVariablesPage'),
  })
  const serviceSettings = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/settings',
    params: { parse: (given) => ({ ...given, kind: kindOf(given.kind) }), stringify: (given) => given },
    loader: ({ params: { organizationId, environmentId } }) =>
      Promise.all([readServices(environmentId), queries.ensureQueryData(choices(organizationId, environmentId))]),
    component: lazyRouteComponent(() => import('./pages/ServiceSettingsPage.tsx'), 'ServiceSettingsPage'),
  })
  return [serviceVariables, serviceSettings] as const
}

/** The pages that make and change things. They are loaded when somebody opens them. */
export const makingRoutes = (parent: Parent) =>
  [...newServiceRoutes(parent), ...sharedVariablesRoutes(parent), ...serviceRoutes(parent)] as const
