import { operation } from '../operation.ts'
import { Link } from '../resources/log.ts'
import { NoBody, Results, Text, Type } from '../schema.ts'
import { DatabaseConfiguration } from './database.ts'
import { TerraformVersion } from './terraform.ts'

const read = { method: 'GET', access: 'read', status: 200 } as const
export const ImageTag = Type.Object({ image_name: Text(1000, 1), tag: Text(128, 1) })

/** The operations about services that are of no single service, or of all kinds at once. */
export const environmentLinkOperations = {
  listEnvironmentServicesLinks: operation({
    ...read,
    path: '/environment/{environmentId}/link',
    handler: 'listEnvironmentLinks',
    target: 'environment',
    tag: 'Environment',
    summary: 'Lists the URLs of the services of an environment.',
    reply: Results(Link),
  }),
  listEnvironmentDatabaseConfig: operation({
    ...read,
    path: '/environment/{environmentId}/databaseConfiguration',
    handler: 'listDatabaseConfigurations',
    target: 'environment',
    tag: 'Database',
    summary: 'Lists the available types and versions of databases.',
    reply: Results(DatabaseConfiguration),
  }),
} as const

export const terraformVersionOperations = {
  listTerraformVersions: operation({
    ...read,
    path: '/terraform/availableVersion',
    handler: 'listTerraformVersions',
    target: 'caller',
    tag: 'Terraform',
    summary: 'Lists the versions of the Terraform engines, newest first.',
    reply: Results(TerraformVersion),
  }),
} as const

export const imagePreviewOperations = {
  previewContainerEnvironments: operation({
    method: 'POST',
    path: '/organization/{organizationId}/container/preview',
    handler: 'refuse',
    refuses:
      'Preview environments of images are not supported. Clone the environment and deploy the image in the copy.',
    target: 'organization',
    tag: 'Container',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: 'CONTAINER' },
    summary: 'Creates a preview environment of an image. Not supported: clone an environment instead.',
    body: ImageTag,
    reply: NoBody,
    status: 202,
  }),
} as const
