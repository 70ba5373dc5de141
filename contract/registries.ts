/** The kinds of container registries and Helm repositories, as tables. */
export const registryFields = [
  'access_key_id',
  'secret_access_key',
  'region',
  'scaleway_access_key',
  'scaleway_secret_key',
  'scaleway_project_id',
  'json_credentials',
  'gcp_credentials_type',
  'project_id',
  'service_account_email',
  'workload_identity_provider_resource',
  'username',
  'password',
  'role_arn',
  'azure_tenant_id',
  'azure_subscription_id',
] as const
export type RegistryField = (typeof registryFields)[number]

/** Fields that are encrypted and never returned. */
export const secretFields = ['secret_access_key', 'scaleway_secret_key', 'json_credentials', 'password'] as const
export type SecretField = (typeof secretFields)[number]
export const isSecretField = (name: string): name is SecretField => secretFields.some((one) => one === name)

export interface RegistryKind {
  /** The default URL. `<region>` is replaced by the region of the configuration. */
  readonly url?: string
  /** The required fields of its configuration. */
  readonly required: readonly RegistryField[]
}

export const containerRegistryKinds = {
  ECR: { required: ['region'] },
  SCALEWAY_CR: { url: 'https://rg.<region>.scw.cloud', required: ['region', 'scaleway_secret_key'] },
  DOCKER_HUB: { url: 'https://docker.io', required: [] },
  GITHUB_CR: { url: 'https://ghcr.io', required: [] },
  GITHUB_ENTERPRISE_CR: { required: ['username', 'password'] },
  GITLAB_CR: { url: 'https://registry.gitlab.com', required: [] },
  PUBLIC_ECR: { url: 'https://public.ecr.aws', required: [] },
  DOCR: { url: 'https://registry.digitalocean.com', required: [] },
  GENERIC_CR: { required: [] },
  GCP_ARTIFACT_REGISTRY: { url: 'https://<region>-docker.pkg.dev', required: ['region'] },
  AZURE_CR: { required: [] },
} as const satisfies Record<string, RegistryKind>
export type ContainerRegistryKind = keyof typeof containerRegistryKinds

export const helmRepositoryKinds = {
  HTTPS: { required: [] },
  OCI_ECR: { required: ['region'] },
  OCI_SCALEWAY_CR: { url: 'oci://rg.<region>.scw.cloud', required: ['region', 'scaleway_secret_key'] },
  OCI_DOCKER_HUB: { url: 'oci://registry-1.docker.io', required: [] },
  OCI_PUBLIC_ECR: { url: 'oci://public.ecr.aws', required: [] },
  OCI_GENERIC_CR: { required: [] },
  OCI_GITHUB_CR: { url: 'oci://ghcr.io', required: [] },
  OCI_GITLAB_CR: { url: 'oci://registry.gitlab.com', required: [] },
} as const satisfies Record<string, RegistryKind>
export type HelmRepositoryKind = keyof typeof helmRepositoryKinds

/** Returns the keys of a table of kinds. Object.keys loses their type. */
const namesOf = <K extends string>(kinds: Readonly<Record<K, RegistryKind>>) => Object.keys(kinds) as K[]
export const containerRegistryKindNames = namesOf(containerRegistryKinds)
export const helmRepositoryKindNames = namesOf(helmRepositoryKinds)
