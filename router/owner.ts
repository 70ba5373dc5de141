import type { Route } from '@quayside/contract/routes.ts'

/**
 * Returns for whom a route uses what all services share: its organization, or its service in tables
 * of older servers.
 */
export const ownerOf = ({ organization, service }: Pick<Route, 'organization' | 'service'>): string =>
  organization ?? service
