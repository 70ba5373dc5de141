import { operation } from '../operation.ts'
import { Type } from '../schema.ts'

const exporting = {
  method: 'GET',
  access: 'read',
  contentType: 'application/octet-stream',
  reply: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
  status: 200,
} as const

export const terraformExportOperations = {
  exportEnvironmentConfigurationIntoTerraform: operation({
    ...exporting,
    target: 'environment',
    tag: 'Environment Export',
    path: '/environment/{environmentId}/terraformExport',
    handler: 'exportEnvironment',
    summary:
      'Exports an environment as a zip of Terraform files. Secrets become variables. Admins may include their values.',
    query: Type.Object({ exportSecrets: Type.Optional(Type.Boolean()) }),
  }),
  exportProjectConfigurationIntoTerraform: operation({
    ...exporting,
    target: 'project',
    tag: 'Project',
    path: '/project/{projectId}/terraformExport',
    handler: 'exportProject',
    extension: true,
    summary:
      'Exports a project as a zip of Terraform files, with every environment that the caller may read. Secrets ' +
      'become variables without values.',
  }),
} as const
