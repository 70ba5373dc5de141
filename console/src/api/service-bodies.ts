import type { DeploymentPlan } from '@quayside/contract/resources/deployment-plan.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { asBody, type Draft } from '../forms/draft.ts'
import { api } from './client.ts'

interface Changed {
  readonly id: string
}
interface BodyOperations {
  create(environmentId: string, draft: Draft): Promise<Changed>
  /** With a dry run the answer is a plan instead, which `effectOf` reads. */
  edit(id: string, draft: Draft, isDryRun?: boolean): Promise<Changed>
  /** Undefined if services of the kind have none. */
  readonly domains?: (id: string) => Promise<{ readonly results: readonly { readonly domain: string }[] }>
  readonly backups?: (id: string) => Promise<{ readonly results: readonly unknown[] }>
}

const dry = (isDryRun = false) => (isDryRun ? { query: { dry_run: true } } : {})

/** The operations that make and change the settings of a service, by kind. */
export const serviceBodies: Readonly<Record<KindName, BodyOperations>> = {
  application: {
    create: (environmentId, draft) => api.createApplication({ environmentId, body: asBody(draft) }),
    edit: (id, draft, isDry) => api.editApplication({ applicationId: id, body: asBody(draft), ...dry(isDry) }),
    domains: (applicationId) => api.listApplicationCustomDomain({ applicationId }),
    backups: (applicationId) => api.listApplicationBackup({ applicationId }),
  },
  container: {
    create: (environmentId, draft) => api.createContainer({ environmentId, body: asBody(draft) }),
    edit: (id, draft, isDry) => api.editContainer({ containerId: id, body: asBody(draft), ...dry(isDry) }),
    domains: (containerId) => api.listContainerCustomDomain({ containerId }),
    backups: (containerId) => api.listContainerBackup({ containerId }),
  },
  database: {
    create: (environmentId, draft) => api.createDatabase({ environmentId, body: asBody(draft) }),
    edit: (id, draft, isDry) => api.editDatabase({ databaseId: id, body: asBody(draft), ...dry(isDry) }),
    backups: (databaseId) => api.listDatabaseBackup({ databaseId }),
  },
  job: {
    create: (environmentId, draft) => api.createJob({ environmentId, body: asBody(draft) }),
    edit: (id, draft, isDry) => api.editJob({ jobId: id, body: asBody(draft), ...dry(isDry) }),
  },
  helm: {
    create: (environmentId, draft) => api.createHelm({ environmentId, body: asBody(draft) }),
    edit: (id, draft, isDry) => api.editHelm({ helmId: id, body: asBody(draft), ...dry(isDry) }),
    domains: (helmId) => api.listHelmCustomDomain({ helmId }),
  },
  terraform: {
    create: (environmentId, draft) => api.createTerraform({ environmentId, body: asBody(draft) }),
    edit: (id, draft, isDry) => api.editTerraform({ terraformId: id, body: asBody(draft), ...dry(isDry) }),
  },
}

/** Reads the things that a deletion of a service loses beside its data. */
export async function attachedTo(kind: KindName, id: string): Promise<readonly string[]> {
  const { domains, backups } = serviceBodies[kind]
  const [names, kept] = await Promise.all([domains?.(id), backups?.(id)])
  const count = kept?.results.length ?? 0
  return [
    ...(names?.results ?? []).map(({ domain }) => `the custom domain ${domain}`),
    ...(count === 0 ? [] : [count === 1 ? 'its backup' : `its backups, which are at least ${count}`]),
  ]
}

type Plan = typeof DeploymentPlan.static
/** The effect that a change would have. */
export interface Effect {
  readonly changed: readonly string[]
  readonly services: Plan['services']
}

/** Asks for the effect of a change without making it. */
export async function effectOf(kind: KindName, id: string, draft: Draft): Promise<Effect> {
  const answer: unknown = await serviceBodies[kind].edit(id, draft, true)
  // A dry run is answered with the plan instead of the service.
  const { changed_settings: changed, services } = answer as Plan
  return { changed, services }
}
