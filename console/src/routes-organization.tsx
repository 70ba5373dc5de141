import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { apiTokens, gitTokens } from './api/reads-access.ts'
import { auditEvents, auditSearchOf } from './api/reads-audit.ts'
import { gitPushes, gitWebhooks } from './api/reads-git-webhooks.ts'
import { customRoles, invitations, members, roles } from './api/reads-organization.ts'
import { account } from './api/reads-organization-record.ts'
import { deliveries, webhooks } from './api/reads-webhooks.ts'
import { ownRights, whyNot } from './api/rights.ts'
import { registryStore, repositoryStore, storeKinds, stores } from './api/stores.ts'
import { annotationsGroups, labelsGroups, tagGroups } from './api/tag-groups.ts'
import { Failed } from './pages/Failed.tsx'
import { clusterRoutes } from './routes-clusters.tsx'
import { organization } from './routes-frame.tsx'

// The pages of an organization's settings. They are loaded when somebody opens them.

export const frame = createRoute({
  getParentRoute: () => organization,
  path: 'settings',
  component: lazyRouteComponent(() => import('./pages/settings/Settings.tsx'), 'Settings'),
})

const start = createRoute({
  getParentRoute: () => frame,
  path: '/',
  loader: ({ params }) => {
    throw redirect({ to: '/organizations/$organizationId/settings/members', params, replace: true })
  },
})

const generalPage = createRoute({
  getParentRoute: () => frame,
  path: 'general',
  errorComponent: Failed,
  loader: ({ params }) => queries.ensureQueryData(members(params.organizationId)),
  component: lazyRouteComponent(
    () => import('./pages/settings/OrganizationSettingsPage.tsx'),
    'OrganizationSettingsPage',
  ),
})

/** Reads the invitations if the person may see them. */
async function readInvitations(organizationId: string): Promise<void> {
  const rights = await queries.ensureQueryData(ownRights(organizationId))
  if (whyNot(rights, 'getOrganizationInvitedMembers', {}) === undefined)
    await queries.ensureQueryData(invitations(organizationId))
}

const membersPage = createRoute({
  getParentRoute: () => frame,
  path: 'members',
  errorComponent: Failed,
  loader: ({ params: { organizationId } }) =>
    Promise.all([
      queries.ensureQueryData(members(organizationId)),
      readInvitations(organizationId),
      queries.ensureQueryData(roles(organizationId)),
    ]),
  component: lazyRouteComponent(() => import('./pages/settings/MembersPage.tsx'), 'MembersPage'),
})

const rolesPage = createRoute({
  getParentRoute: () => frame,
  path: 'roles',
  errorComponent: Failed,
  loader: ({ params }) => queries.ensureQueryData(customRoles(params.organizationId)),
  component: lazyRouteComponent(() => import('./pages/settings/RolesPage.tsx'), 'RolesPage'),
})

const rolePage = createRoute({
  getParentRoute: () => frame,
  path: 'roles/$roleId',
  errorComponent: Failed,
  loader: ({ params }) => queries.ensureQueryData(customRoles(params.organizationId)),
  component: lazyRouteComponent(() => import('./pages/settings/RolePage.tsx'), 'RolePage'),
})

const tokensPage = createRoute({
  getParentRoute: () => frame,
  path: 'api-tokens',
  errorComponent: Failed,
  loader: ({ params: { organizationId } }) =>
    Promise.all([queries.ensureQueryData(apiTokens(organizationId)), queries.ensureQueryData(roles(organizationId))]),
  component: lazyRouteComponent(() => import('./pages/settings/TokensPage.tsx'), 'TokensPage'),
})

const gitTokensPage = createRoute({
  getParentRoute: () => frame,
  path: 'git-tokens',
  errorComponent: Failed,
  loader: ({ params }) => queries.ensureQueryData(gitTokens(params.organizationId)),
  component: lazyRouteComponent(() => import('./pages/settings/GitTokensPage.tsx'), 'GitTokensPage'),
})

const gitWebhooksPage = createRoute({
  getParentRoute: () => frame,
  path: 'git-webhooks',
  errorComponent: Failed,
  loader: ({ params: { organizationId } }) =>
    Promise.all([
      queries.ensureQueryData(gitWebhooks(organizationId)),
      queries.ensureQueryData(gitPushes(organizationId)),
    ]),
  component: lazyRouteComponent(() => import('./pages/settings/GitWebhooksPage.tsx'), 'GitWebhooksPage'),
})

const registriesPage = createRoute({
  getParentRoute: () => frame,
  path: 'registries',
  errorComponent: Failed,
  loader: ({ params: { organizationId } }) =>
    Promise.all([
      queries.ensureQueryData(stores(registryStore, organizationId)),
      queries.ensureQueryData(storeKinds(registryStore)),
    ]),
  component: lazyRouteComponent(() => import('./pages/settings/StorePage.tsx'), 'RegistriesPage'),
})

const helmRepositoriesPage = createRoute({
  getParentRoute: () => frame,
  path: 'helm-repositories',
  errorComponent: Failed,
  loader: ({ params: { organizationId } }) =>
    Promise.all([
      queries.ensureQueryData(stores(repositoryStore, organizationId)),
      queries.ensureQueryData(storeKinds(repositoryStore)),
    ]),
  component: lazyRouteComponent(() => import('./pages/settings/StorePage.tsx'), 'HelmRepositoriesPage'),
})

const tagGroupsPage = createRoute({
  getParentRoute: () => frame,
  path: 'groups',
  errorComponent: Failed,
  loader: ({ params: { organizationId } }) =>
    Promise.all([
      queries.ensureQueryData(tagGroups(labelsGroups, organizationId)),
      queries.ensureQueryData(tagGroups(annotationsGroups, organizationId)),
    ]),
  component: lazyRouteComponent(() => import('./pages/settings/TagGroupsPage.tsx'), 'TagGroupsPage'),
})

const webhooksPage = createRoute({
  getParentRoute: () => frame,
  path: 'webhooks',
  errorComponent: Failed,
  loader: ({ params }) => queries.ensureQueryData(webhooks(params.organizationId)),
  component: lazyRouteComponent(() => import('./pages/settings/WebhooksPage.tsx'), 'WebhooksPage'),
})

const webhookPage = createRoute({
  getParentRoute: () => frame,
  path: 'webhooks/$webhookId',
  errorComponent: Failed,
  loader: ({ params: { organizationId, webhookId } }) =>
    Promise.all([
      queries.ensureQueryData(webhooks(organizationId)),
      queries.fetchQuery(deliveries(organizationId, webhookId)),
    ]),
  component: lazyRouteComponent(() => import('./pages/settings/WebhookPage.tsx'), 'WebhookPage'),
})

const auditPage = createRoute({
  getParentRoute: () => frame,
  path: 'audit',
  errorComponent: Failed,
  validateSearch: auditSearchOf,
  loaderDeps: ({ search }) => search,
  loader: ({ params, deps }) => queries.fetchQuery(auditEvents(params.organizationId, deps)),
  component: lazyRouteComponent(() => import('./pages/settings/AuditPage.tsx'), 'AuditPage'),
})

const accountPage = createRoute({
  getParentRoute: () => frame,
  path: 'account',
  errorComponent: Failed,
  loader: () => queries.ensureQueryData(account()),
  component: lazyRouteComponent(() => import('./pages/settings/AccountPage.tsx'), 'AccountPage'),
})

export const settings = frame.addChildren([
  start,
  generalPage,
  membersPage,
  rolesPage,
  rolePage,
  tokensPage,
  gitTokensPage,
  gitWebhooksPage,
  registriesPage,
  helmRepositoriesPage,
  tagGroupsPage,
  webhooksPage,
  webhookPage,
  auditPage,
  accountPage,
  ...clusterRoutes(frame),
])
