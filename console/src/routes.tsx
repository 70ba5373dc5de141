import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { environmentSearchOf } from './api/environment-search.ts'
import { isKind } from './api/kinds.ts'
import { environment, links, organizations, projects, services, stageNames, stages } from './api/reads.ts'
import { environmentHistory } from './api/reads-history.ts'
import { clusters } from './api/reads-making.ts'
import { returnAddress } from './api/session.ts'
import { OrganizationPage } from './pages/OrganizationPage.tsx'
import { paths } from './paths.ts'
import { environmentRoutes } from './routes-environment.tsx'
import { organization, root } from './routes-frame.tsx'
import { makingRoutes } from './routes-making.tsx'
import { operationRoutes } from './routes-operations.tsx'
import { settings } from './routes-organization.tsx'
import { projectRoutes } from './routes-project.tsx'
import { serviceRoutes } from './routes-service.tsx'

// The whole map of the console. A loader begins the reads of its page, and the page uses them.

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  loader: async () => {
    const [first] = await queries.ensureQueryData(organizations())
    if (first) throw redirect({ to: '/organizations/$organizationId', params: { organizationId: first.id } })
    throw new Error('You are a member of no organization. Ask for an invitation.')
  },
})

const signedIn = createRoute({
  getParentRoute: () => root,
  path: paths.signedIn,
  loader: () => {
    throw redirect({ href: returnAddress(new URLSearchParams(location.search)), replace: true })
  },
})

const overview = createRoute({
  getParentRoute: () => organization,
  path: '/',
  loader: ({ params: { organizationId: id } }) =>
    Promise.all([queries.ensureQueryData(projects(id)), queries.ensureQueryData(clusters(id))]),
  component: OrganizationPage,
})

const readEnvironment = (id: string) =>
  Promise.all([
    queries.ensureQueryData(environment(id)),
    queries.ensureQueryData(services(id)),
    queries.ensureQueryData(stages(id)),
    queries.ensureQueryData(stageNames(id)),
    queries.ensureQueryData(links(id)),
    queries.ensureQueryData(environmentHistory(id)),
  ])

const environmentPage = createRoute({
  getParentRoute: () => organization,
  path: 'environments/$environmentId',
  validateSearch: environmentSearchOf,
  loader: ({ params }) => readEnvironment(params.environmentId),
  component: lazyRouteComponent(() => import('./pages/environment/EnvironmentPage.tsx'), 'EnvironmentPage'),
})

const servicePage = createRoute({
  getParentRoute: () => organization,
  path: 'environments/$environmentId/$kind/$serviceId',
  params: {
    parse: (given) => {
      if (!isKind(given.kind)) throw new Error(`"${given.kind}" is no kind of service`)
      return { ...given, kind: given.kind }
    },
    stringify: (given) => given,
  },
  loader: ({ params }) => readEnvironment(params.environmentId),
  component: lazyRouteComponent(() => import('./pages/ServicePage.tsx'), 'ServicePage'),
})

const tree = root.addChildren([
  home,
  signedIn,
  organization.addChildren([
    overview,
    environmentPage,
    servicePage,
    ...makingRoutes(organization),
    ...environmentRoutes(organization),
    ...operationRoutes(organization),
    ...projectRoutes(organization),
    ...serviceRoutes(organization),
    settings,
  ]),
])

export const router = createRouter({ routeTree: tree, defaultPreload: 'intent', scrollRestoration: true })

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
