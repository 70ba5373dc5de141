import { named, operation } from '../operation.ts'
import { cloudProviders, type ProviderName, providers } from '../providers.ts'
import { base, Enum, NoBody, Nullable, Results, Text, type TObject, type TProperties, Type, Uuid } from '../schema.ts'

export const credentialsTypes = [
  'AWS',
  'AWS_ROLE',
  'EKS_ANYWHERE_VSPHERE',
  'SCW',
  'GCP',
  'GCP_WORKLOAD_IDENTITY_FEDERATION',
  'AZURE',
  'OTHER',
] as const
export type CredentialsType = (typeof credentialsTypes)[number]
export const awsVariants = [
  'AWS_STATIC',
  'AWS_ROLE',
  'EKS_ANYWHERE_VSPHERE_STATIC',
  'EKS_ANYWHERE_VSPHERE_ROLE',
] as const
export const gcpVariants = ['SERVICE_ACCOUNT_KEY', 'WORKLOAD_IDENTITY_FEDERATION', 'WIF'] as const

const word = Type.String()
/** The fields of a response, without secrets. `object_type` decides which are present. */
export const Credentials = Type.Object({
  ...base,
  name: word,
  object_type: Enum(credentialsTypes),
  access_key_id: Type.Optional(Nullable(word)),
  role_arn: Type.Optional(Nullable(word)),
  vsphere_user: Type.Optional(word),
  scaleway_access_key: Type.Optional(word),
  scaleway_project_id: Type.Optional(word),
  scaleway_organization_id: Type.Optional(word),
  project_id: Type.Optional(word),
  service_account_email: Type.Optional(word),
  workload_identity_provider_resource: Type.Optional(word),
  token_lifetime_seconds: Type.Optional(Type.Integer()),
  azure_subscription_id: Type.Optional(word),
  azure_tenant_id: Type.Optional(word),
  azure_application_id: Type.Optional(word),
  azure_application_object_id: Type.Optional(word),
})

const name = Text(255, 1)
const short = Text(255, 1)
const secret = Text(1024, 1)
const arn = Text(2048, 1)
/** The required fields depend on the variant. The handler checks them. */
const fields = {
  aws: {
    name,
    type: Enum(awsVariants),
    access_key_id: Type.Optional(short),
    secret_access_key: Type.Optional(secret),
    role_arn: Type.Optional(arn),
    vsphere_user: Type.Optional(short),
    vsphere_password: Type.Optional(secret),
  },
  scaleway: {
    name,
    scaleway_access_key: short,
    scaleway_secret_key: secret,
    scaleway_project_id: short,
    scaleway_organization_id: short,
  },
  gcp: {
    name,
    credential_type: Type.Optional(Enum(gcpVariants)),
    /** The key of a service account as JSON, plain or in base64. */
    gcp_credentials: Type.Optional(Text(20_000, 1)),
    service_account_email: Type.Optional(Text(320, 1)),
    workload_identity_provider_resource: Type.Optional(arn),
  },
  azure: { name, azure_subscription_id: short, azure_tenant_id: short },
  onPremise: { name },
} as const satisfies Record<ProviderName, TProperties>

/** The operations on the credentials of one provider. */
function credentialsOf<const K extends string, const P extends ProviderName, C extends TObject, E extends TObject>(
  noun: K,
  provider: P,
  body: { readonly create: C; readonly edit: E },
) {
  const path = `/organization/{organizationId}/${provider}/credentials` as const
  const one = `${path}/{credentialsId}` as const
  const place = { target: 'organization', provider, tag: 'Credentials' } as const
  const event = <const T extends 'CREATE' | 'UPDATE' | 'DELETE'>(type: T) =>
    ({ type, target: 'ORGANIZATION', sub: 'CLOUD_PROVIDER_CREDENTIALS' }) as const
  return named(noun, {
    'list{Kind}Credentials': operation({
      ...place,
      method: 'GET',
      path,
      handler: 'listCredentials',
      access: 'read',
      summary: 'Lists the stored credentials for one cloud provider, without secrets, oldest first.',
      reply: Results(Credentials),
      status: 200,
    }),
    'create{Kind}Credentials': operation({
      ...place,
      method: 'POST',
      path,
      handler: 'createCredentials',
      access: 'admin',
      event: event('CREATE'),
      summary: 'Stores credentials for a cloud provider. Their secrets are encrypted and never returned.',
      body: body.create,
      reply: Credentials,
      status: 201,
    }),
    'get{Kind}Credentials': operation({
      ...place,
      method: 'GET',
      path: one,
      handler: 'getCredentials',
      access: 'read',
      summary: 'Returns credentials without their secrets.',
      reply: Credentials,
      status: 200,
    }),
    'edit{Kind}Credentials': operation({
      ...place,
      method: 'PUT',
      path: one,
      handler: 'editCredentials',
      access: 'admin',
      event: event('UPDATE'),
      summary: 'Changes the fields of credentials that the body names. A change of variant requires every field.',
      body: body.edit,
      reply: Credentials,
      status: 200,
    }),
    'delete{Kind}Credentials': operation({
      ...place,
      method: 'DELETE',
      path: one,
      handler: 'deleteCredentials',
      access: 'admin',
      event: event('DELETE'),
      summary: 'Deletes credentials. 409 if a cluster still uses them.',
      reply: NoBody,
      status: 204,
    }),
  })
}

/** The request body, and the same with optional fields only. */
const bodies = <const F extends TProperties>(properties: F) => ({
  create: Type.Object(properties),
  edit: Type.Partial(Type.Object(properties)),
})

const CredentialsCluster = Type.Object({ id: Uuid, name: word, cloud_provider: Enum(cloudProviders) })

export const credentialsOperations = {
  ...credentialsOf(providers.aws.noun, 'aws', bodies(fields.aws)),
  ...credentialsOf(providers.scaleway.noun, 'scaleway', bodies(fields.scaleway)),
  ...credentialsOf(providers.gcp.noun, 'gcp', bodies(fields.gcp)),
  ...credentialsOf(providers.azure.noun, 'azure', bodies(fields.azure)),
  ...credentialsOf(providers.onPremise.noun, 'onPremise', bodies(fields.onPremise)),
  listOrganizationCredentials: operation({
    method: 'GET',
    path: '/organization/{organizationId}/credentials',
    handler: 'listAllCredentials',
    target: 'organization',
    access: 'read',
    tag: 'Credentials',
    summary: 'Lists all credentials of an organization with the clusters that use them.',
    reply: Results(Type.Object({ credential: Credentials, clusters: Type.Array(CredentialsCluster) })),
    status: 200,
  }),
} as const
