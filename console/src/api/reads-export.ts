import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { readZip } from './read-zip.ts'

/** An object that is exported with everything in it. */
export type Exportable = { readonly environmentId: string } | { readonly projectId: string }

/** The files of it for Terraform, by name, without secrets. They are made each time. */
export const terraformExport = (of: Exportable) =>
  queryOptions({
    queryKey: [...placeOf(of), 'terraform'],
    staleTime: 0,
    gcTime: 0,
    queryFn: async () =>
      readZip(
        await ('projectId' in of
          ? api.exportProjectConfigurationIntoTerraform(of)
          : api.exportEnvironmentConfigurationIntoTerraform(of)),
      ),
  })

const placeOf = (of: Exportable): readonly string[] =>
  'projectId' in of ? ['project', of.projectId] : ['environment', of.environmentId]
