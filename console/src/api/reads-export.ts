import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { readZip } from './read-zip.ts'

/** The files of an environment for Terraform, by name, without secrets. It is made each time. */
export const terraformExport = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'terraform'],
    staleTime: 0,
    gcTime: 0,
    queryFn: async () => readZip(await api.exportEnvironmentConfigurationIntoTerraform({ environmentId })),
  })
