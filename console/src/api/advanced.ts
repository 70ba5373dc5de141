import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { asBody, asDraft, type Draft } from '../forms/draft.ts'
import { api } from './client.ts'
import { aboutClusters } from './reads-clusters.ts'

// Advanced settings, whose operations differ by the kind of the service.

interface AdvancedOperations {
  defaults(): Promise<object>
  get(id: string): Promise<object>
  edit(id: string, settings: Draft): Promise<object>
}

/** The kinds that have advanced settings. */
export type KindWithAdvanced = Exclude<KindName, 'database'>

export const advancedOf: Readonly<Record<KindWithAdvanced, AdvancedOperations>> = {
  application: {
    defaults: () => api.getDefaultApplicationAdvancedSettings({}),
    get: (applicationId) => api.getAdvancedSettings({ applicationId }),
    edit: (applicationId, settings) => api.editAdvancedSettings({ applicationId, body: asBody(settings) }),
  },
  container: {
    defaults: () => api.getDefaultContainerAdvancedSettings({}),
    get: (containerId) => api.getContainerAdvancedSettings({ containerId }),
    edit: (containerId, settings) => api.editContainerAdvancedSettings({ containerId, body: asBody(settings) }),
  },
  job: {
    defaults: () => api.getDefaultJobAdvancedSettings({}),
    get: (jobId) => api.getJobAdvancedSettings({ jobId }),
    edit: (jobId, settings) => api.editJobAdvancedSettings({ jobId, body: asBody(settings) }),
  },
  helm: {
    defaults: () => api.getDefaultHelmAdvancedSettings({}),
    get: (helmId) => api.getHelmAdvancedSettings({ helmId }),
    edit: (helmId, settings) => api.editHelmAdvancedSettings({ helmId, body: asBody(settings) }),
  },
  terraform: {
    defaults: () => api.getDefaultTerraformAdvancedSettings({}),
    get: (terraformId) => api.getTerraformAdvancedSettings({ terraformId }),
    edit: (terraformId, settings) => api.editTerraformAdvancedSettings({ terraformId, body: asBody(settings) }),
  },
}

/** Whether services of a kind have advanced settings. */
export const hasAdvanced = (kind: KindName): kind is KindWithAdvanced => Object.hasOwn(advancedOf, kind)

export const advancedKey = (environmentId: string, serviceId: string) =>
  ['environment', environmentId, 'advanced', serviceId] as const

/** The advanced settings of a service, beside their defaults. */
export const advanced = (environmentId: string, kind: KindWithAdvanced, serviceId: string) =>
  queryOptions({
    queryKey: advancedKey(environmentId, serviceId),
    queryFn: () => both(advancedOf[kind].defaults(), advancedOf[kind].get(serviceId)),
    staleTime: 0,
  })

/** The advanced settings of a cluster, beside their defaults. */
export const clusterAdvanced = (organizationId: string, clusterId: string) =>
  queryOptions({
    queryKey: aboutClusters(organizationId, clusterId, 'advanced'),
    queryFn: () =>
      both(api.getDefaultClusterAdvancedSettings({}), api.getClusterAdvancedSettings({ organizationId, clusterId })),
    staleTime: 0,
  })

async function both(usual: Promise<object>, now: Promise<object>) {
  const [defaults, values] = await Promise.all([usual, now])
  return { defaults: asDraft(defaults), values: asDraft(values) }
}
