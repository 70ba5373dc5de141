import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { deploymentsSearchOf, frameSearchOf } from './api/environment-search.ts'
import { environmentHistory } from './api/reads-history.ts'
import { deploymentRule } from './api/reads-plan.ts'
import type { organization } from './routes-frame.tsx'
import { readServices } from './routes-making.tsx'

/** The pages of an environment beside its first one. They are loaded when somebody opens them. */
export const environmentRoutes = (parent: typeof organization) => {
  const getParentRoute = () => parent
  const deployments = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/deployments',
    validateSearch: deploymentsSearchOf,
    loader: ({ params: { environmentId } }) =>
      Promise.all([readServices(environmentId), queries.ensureQueryData(environmentHistory(environmentId))]),
    component: lazyRouteComponent(() => import('./pages/environment/DeploymentsPage.tsx'), 'DeploymentsPage'),
  })
  const stages = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/stages',
    validateSearch: frameSearchOf,
    loader: ({ params: { environmentId } }) => readServices(environmentId),
    component: lazyRouteComponent(() => import('./pages/plan/PlanPage.tsx'), 'PlanPage'),
  })
  const hours = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/hours',
    validateSearch: frameSearchOf,
    loader: ({ params: { environmentId } }) =>
      Promise.all([readServices(environmentId), queries.ensureQueryData(deploymentRule(environmentId))]),
    component: lazyRouteComponent(() => import('./pages/plan/HoursPage.tsx'), 'HoursPage'),
  })
  const rules = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/rules',
    validateSearch: frameSearchOf,
    loader: ({ params: { environmentId } }) =>
      Promise.all([readServices(environmentId), queries.ensureQueryData(deploymentRule(environmentId))]),
    component: lazyRouteComponent(() => import('./pages/environment/EnvironmentRulesPage.tsx'), 'EnvironmentRulesPage'),
  })
  const settings = createRoute({
    getParentRoute,
    path: 'environments/$environmentId/settings',
    validateSearch: frameSearchOf,
    loader: ({ params: { environmentId } }) => readServices(environmentId),
    component: lazyRouteComponent(
      () => import('./pages/environment/EnvironmentSettingsPage.tsx'),
      'EnvironmentSettingsPage',
    ),
  })
  return [deployments, stages, hours, rules, settings] as const
}
