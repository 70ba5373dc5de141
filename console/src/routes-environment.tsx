import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { environment, services, stageNames } from './api/reads.ts'
import { deploymentRule } from './api/reads-plan.ts'
import type { organization } from './routes-frame.tsx'

/** The pages of an environment beside its first one. They are loaded when somebody opens them. */
export const environmentRoutes = (parent: typeof organization) => {
  const plan = createRoute({
    getParentRoute: () => parent,
    path: 'environments/$environmentId/stages',
    loader: ({ params: { environmentId } }) =>
      Promise.all([
        queries.ensureQueryData(environment(environmentId)),
        queries.ensureQueryData(stageNames(environmentId)),
        queries.ensureQueryData(services(environmentId)),
        queries.ensureQueryData(deploymentRule(environmentId)),
      ]),
    component: lazyRouteComponent(() => import('./pages/plan/PlanPage.tsx'), 'PlanPage'),
  })
  return [plan] as const
}
