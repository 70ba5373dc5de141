import type { Database } from '../database/index.ts'
import {
  countOfProjects,
  countServices,
  listLightServices,
  listOrganizationEnvironments,
  type ServiceFilter,
} from './overview-store.ts'

/** Lists services and environments across projects, with one statement each. */
export const createOverview = (database: Database) => ({
  servicesOf: async (organizationId: string, filter: ServiceFilter) =>
    (await listLightServices(database, organizationId, filter)).map(({ job_type, ...service }) => ({
      ...service,
      ...(job_type && { job_type }),
    })),

  environmentsOf: async (organizationId: string) =>
    (await listOrganizationEnvironments(database, organizationId)).map((row) => ({
      ...row,
      organization: { id: row.organization_id },
      project: { id: row.project_id },
    })),

  countServices: async (projectId: string) => [...(await countServices(database, projectId))],
  countOfProjects: async (organizationId: string) => [...(await countOfProjects(database, organizationId))],
})
