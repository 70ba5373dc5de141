import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { advanced, hasAdvanced } from './api/advanced.ts'
import { backups, hasBackups } from './api/backups.ts'
import { queries } from './api/client.ts'
import type { KindName } from './api/kinds.ts'
import { jobRuns } from './api/reads-jobs.ts'
import { choices } from './api/reads-making.ts'
import { stackRuns } from './api/reads-stacks.ts'
import { Failed } from './pages/Failed.tsx'
import type { organization } from './routes-frame.tsx'
import { kindOf, readServices } from './routes-making.tsx'

type Names = Readonly<Record<'environmentId' | 'serviceId', string>>
const params = {
  parse: (given: Names & { readonly kind: string }) => ({ ...given, kind: kindOf(given.kind) }),
  stringify: (given: Names & { readonly kind: KindName }) => given,
}

/** The pages of the operation of a service. They are loaded when somebody opens them. */
export function operationRoutes(parent: typeof organization) {
  const getParentRoute = () => parent
  const stack = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/stack',
    errorComponent: Failed,
    params,
    loader: ({ params: { environmentId, serviceId } }) =>
      Promise.all([readServices(environmentId), queries.fetchQuery(stackRuns({ environmentId, serviceId }))]),
    component: lazyRouteComponent(() => import('./pages/stacks/StackPage.tsx'), 'StackPage'),
  })
  const runs = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/runs',
    errorComponent: Failed,
    params,
    loader: ({ params: { environmentId, serviceId } }) =>
      Promise.all([readServices(environmentId), queries.fetchQuery(jobRuns({ environmentId, serviceId }))]),
    component: lazyRouteComponent(() => import('./pages/jobs/JobPage.tsx'), 'JobPage'),
  })
  const backupsPage = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/backups',
    errorComponent: Failed,
    params,
    loader: ({ params: { environmentId, kind, serviceId } }) =>
      Promise.all([
        readServices(environmentId),
        hasBackups(kind) && queries.fetchQuery(backups({ environmentId, kind, serviceId })),
      ]),
    component: lazyRouteComponent(() => import('./pages/backups/BackupsPage.tsx'), 'BackupsPage'),
  })
  const advancedPage = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/advanced',
    errorComponent: Failed,
    params,
    loader: ({ params: { environmentId, kind, serviceId } }) =>
      Promise.all([
        readServices(environmentId),
        hasAdvanced(kind) && queries.fetchQuery(advanced(environmentId, kind, serviceId)),
      ]),
    component: lazyRouteComponent(() => import('./pages/advanced/ServiceAdvancedPage.tsx'), 'ServiceAdvancedPage'),
  })
  const values = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/$kind/$serviceId/values',
    errorComponent: Failed,
    params,
    loader: ({ params: { organizationId, environmentId } }) =>
      Promise.all([readServices(environmentId), queries.ensureQueryData(choices(organizationId, environmentId))]),
    component: lazyRouteComponent(() => import('./pages/charts/ChartValuesPage.tsx'), 'ChartValuesPage'),
  })
  return [stack, runs, backupsPage, advancedPage, values] as const
}
