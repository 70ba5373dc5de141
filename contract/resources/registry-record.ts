import { containerRegistryKindNames, helmRepositoryKindNames } from '../registries.ts'
import { base, Enum, Integer, Nullable, Text, type TSchema, Type, Uuid } from '../schema.ts'

const optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
/** The fields that responses have. The other fields of a request are secrets. */
const plain = {
  access_key_id: optional(Text(255)),
  region: optional(Text(63)),
  scaleway_access_key: optional(Text(255)),
  scaleway_project_id: optional(Text(255)),
  username: optional(Text(255)),
  role_arn: optional(Text(2048)),
  azure_tenant_id: optional(Text(255)),
  azure_subscription_id: optional(Text(255)),
}
const secret = {
  secret_access_key: optional(Text(4096)),
  scaleway_secret_key: optional(Text(4096)),
  password: optional(Text(4096)),
}
const google = {
  gcp_credentials_type: optional(Enum(['workload_identity_federation'])),
  project_id: optional(Text(255)),
  service_account_email: optional(Text(255)),
  workload_identity_provider_resource: optional(Text(2048)),
  token_lifetime_seconds: optional(Integer(1, 86_400)),
}
/** The fields that are present. The type is that of a row. */
const answered = (fields: Readonly<Record<string, TSchema>>) => {
  const { token_lifetime_seconds: seconds, ...others } = fields
  const names = Object.keys(others).map((name) => [name, Type.String()])
  const lifetime = seconds ? { token_lifetime_seconds: Type.Integer() } : {}
  return Type.Unsafe<Readonly<Record<string, string | number>>>(
    Type.Partial(Type.Object({ ...Object.fromEntries(names), ...lifetime })),
  )
}

/** An absent or empty secret keeps the stored one. Null clears it. */
const ContainerRegistryConfig = Type.Object({
  ...plain,
  ...google,
  ...secret,
  json_credentials: optional(Text(20_000)),
})
const HelmRepositoryConfig = Type.Object({ ...plain, ...secret })

const request = { name: Text(255, 1), description: optional(Text(1000)), url: optional(Text(2000)) }
export const ContainerRegistryRequest = Type.Object({
  ...request,
  kind: Enum(containerRegistryKindNames),
  config: ContainerRegistryConfig,
})
export const HelmRepositoryRequest = Type.Object({
  ...request,
  kind: Enum(helmRepositoryKindNames),
  skip_tls_verification: Type.Boolean(),
  config: HelmRepositoryConfig,
})

const record = {
  ...base,
  name: Type.String(),
  description: Type.String(),
  url: Type.String(),
  associated_services_count: Type.Integer(),
}
export const ContainerRegistry = Type.Object({
  ...record,
  kind: Enum(containerRegistryKindNames),
  config: answered({ ...plain, ...google }),
})
export const HelmRepository = Type.Object({
  ...record,
  kind: Enum(helmRepositoryKindNames),
  skip_tls_verification: Type.Boolean(),
  config: answered(plain),
})

/** A service that uses an object of the organization. */
export const AssociatedService = Type.Object({
  project_id: Uuid,
  project_name: Type.String(),
  environment_id: Uuid,
  environment_name: Type.String(),
  service_id: Uuid,
  service_name: Type.String(),
  service_type: Enum(['APPLICATION', 'CONTAINER', 'CRON', 'LIFECYCLE', 'HELM', 'TERRAFORM', 'DATABASE']),
})
