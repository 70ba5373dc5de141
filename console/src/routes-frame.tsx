import { createRootRoute, createRoute } from '@tanstack/react-router'
import { queries } from './api/client.ts'
import { organizations } from './api/reads.ts'
import { ownRights } from './api/rights.ts'
import { requireSecureContext } from './api/secure-context.ts'
import { Failed, Missing } from './pages/Failed.tsx'
import { Frame } from './pages/Frame.tsx'

// The routes that hold all others.

export const root = createRootRoute({
  beforeLoad: requireSecureContext,
  errorComponent: Failed,
  notFoundComponent: Missing,
})

export const organization = createRoute({
  getParentRoute: () => root,
  path: '/organizations/$organizationId',
  loader: ({ params }) =>
    Promise.all([queries.ensureQueryData(organizations()), queries.ensureQueryData(ownRights(params.organizationId))]),
  component: Frame,
})
