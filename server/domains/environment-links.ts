import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { Database, Sql } from '../database/index.ts'
import { type PublicAddress, toLinks } from './links.ts'
import { listEnvironmentRoutes } from './route-store.ts'

/** Returns the URLs of an environment's services, service by service. */
export async function listEnvironmentLinks(database: Database | Sql, environmentId: string, address: PublicAddress) {
  const routes = await listEnvironmentRoutes(database, environmentId)
  return routes.flatMap((route) => toLinks(route, serviceTypeOf(route.kind), address))
}
