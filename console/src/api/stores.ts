import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'
import type { OperationName } from './rights.ts'

type RegistryBody = Parameters<typeof api.createContainerRegistry>[0]['body']
type RepositoryBody = Parameters<typeof api.createHelmRepository>[0]['body']

/** A container registry or a Helm repository, without its secrets. */
export type Store = Omit<Awaited<ReturnType<typeof api.getContainerRegistry>>, 'kind'> & {
  readonly kind: string
  /** Of Helm repositories alone. */
  readonly skip_tls_verification?: boolean
}

/** The fields of a form. The kind is one that the API lists. */
export interface StoreValues {
  readonly name: string
  readonly description: string
  readonly kind: string
  readonly url: string | null
  readonly config: Readonly<Record<string, string | number>>
  readonly skip_tls_verification?: boolean
}

/** The operations of one sort of stores. Container registries and Helm repositories share pages. */
export interface StoreOperations {
  readonly noun: string
  readonly plural: string
  /** The operations, for the permissions that they need. */
  readonly names: Readonly<Record<'create' | 'edit' | 'remove', OperationName>>
  kinds(): Promise<{ readonly results: readonly { readonly kind: string }[] }>
  list(organizationId: string): Promise<{ readonly results: readonly Store[] }>
  create(organizationId: string, values: StoreValues): Promise<unknown>
  edit(organizationId: string, id: string, values: StoreValues): Promise<unknown>
  remove(organizationId: string, id: string): Promise<unknown>
  services(organizationId: string, id: string): ReturnType<typeof api.getContainerRegistryAssociatedServices>
}

// The API checks the kind, which comes from its own list.
const registryBody = (values: StoreValues) => values as RegistryBody
const repositoryBody = (values: StoreValues) => ({ skip_tls_verification: false, ...values }) as RepositoryBody

export const registryStore: StoreOperations = {
  noun: 'container registry',
  plural: 'Container registries',
  names: {
    create: 'createContainerRegistry',
    edit: 'editContainerRegistry',
    remove: 'deleteContainerRegistry',
  },
  kinds: () => api.listAvailableContainerRegistry({}),
  list: (organizationId) => api.listContainerRegistry({ organizationId }),
  create: (organizationId, values) => api.createContainerRegistry({ organizationId, body: registryBody(values) }),
  edit: (organizationId, containerRegistryId, values) =>
    api.editContainerRegistry({ organizationId, containerRegistryId, body: registryBody(values) }),
  remove: (organizationId, containerRegistryId) => api.deleteContainerRegistry({ organizationId, containerRegistryId }),
  services: (organizationId, containerRegistryId) =>
    api.getContainerRegistryAssociatedServices({ organizationId, containerRegistryId }),
}

export const repositoryStore: StoreOperations = {
  noun: 'Helm repository',
  plural: 'Helm repositories',
  names: { create: 'createHelmRepository', edit: 'editHelmRepository', remove: 'deleteHelmRepository' },
  kinds: () => api.listAvailableHelmRepository({}),
  list: (organizationId) => api.listHelmRepository({ organizationId }),
  create: (organizationId, values) => api.createHelmRepository({ organizationId, body: repositoryBody(values) }),
  edit: (organizationId, helmRepositoryId, values) =>
    api.editHelmRepository({ organizationId, helmRepositoryId, body: repositoryBody(values) }),
  remove: (organizationId, helmRepositoryId) => api.deleteHelmRepository({ organizationId, helmRepositoryId }),
  services: (organizationId, helmRepositoryId) =>
    api.getHelmRepositoryAssociatedServices({ organizationId, helmRepositoryId }),
}

export const stores = (store: StoreOperations, organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, store.plural),
    queryFn: async () => (await store.list(organizationId)).results,
  })

export const storeKinds = (store: StoreOperations) =>
  queryOptions({
    queryKey: ['kinds', store.plural],
    queryFn: async () => (await store.kinds()).results.map(({ kind }) => kind),
  })

const aws = ['region', 'access_key_id', 'secret_access_key', 'role_arn']
const scaleway = ['region', 'scaleway_project_id', 'scaleway_access_key', 'scaleway_secret_key']
const configs: Readonly<Record<string, readonly string[]>> = {
  ECR: aws,
  OCI_ECR: aws,
  SCALEWAY_CR: scaleway,
  OCI_SCALEWAY_CR: scaleway,
  GCP_ARTIFACT_REGISTRY: ['region', 'json_credentials'],
}

/** Pure: the fields that a form of this kind has. */
export const configOf = (kind: string): readonly string[] => configs[kind] ?? ['username', 'password']

const secrets = new Set(['secret_access_key', 'scaleway_secret_key', 'json_credentials', 'password'])
/** Pure: whether the API never returns the field. */
export const isSecret = (field: string): boolean => secrets.has(field)
