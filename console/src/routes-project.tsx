import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { projects } from './api/reads.ts'
import { clusters } from './api/reads-making.ts'
import { projectRules } from './api/reads-rules.ts'
import { variables } from './api/reads-variables.ts'
import type { organization } from './routes-frame.tsx'

/** The pages of a project. They are loaded when somebody opens them. */
export function projectRoutes(parent: typeof organization) {
  const getParentRoute = () => parent
  const variablesPage = createRoute({
    getParentRoute,
    path: 'projects/$projectId/variables',
    loader: ({ params: { organizationId, projectId } }) =>
      Promise.all([
        queries.ensureQueryData(projects(organizationId)),
        queries.ensureQueryData(variables({ scope: 'PROJECT', parentId: projectId })),
      ]),
    component: lazyRouteComponent(() => import('./pages/project/ProjectVariablesPage.tsx'), 'ProjectVariablesPage'),
  })
  const rules = createRoute({
    getParentRoute,
    path: 'projects/$projectId/rules',
    loader: ({ params: { organizationId, projectId } }) =>
      Promise.all([
        queries.ensureQueryData(projects(organizationId)),
        queries.ensureQueryData(clusters(organizationId)),
        queries.ensureQueryData(projectRules(projectId)),
      ]),
    component: lazyRouteComponent(() => import('./pages/project/ProjectRulesPage.tsx'), 'ProjectRulesPage'),
  })
  const settings = createRoute({
    getParentRoute,
    path: 'projects/$projectId/settings',
    loader: ({ params }) => queries.ensureQueryData(projects(params.organizationId)),
    component: lazyRouteComponent(() => import('./pages/project/ProjectSettingsPage.tsx'), 'ProjectSettingsPage'),
  })
  return [variablesPage, rules, settings] as const
}
