import { containerRegistryKinds, helmRepositoryKinds } from '@quayside/contract/registries.ts'
import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import type { AddressGuard } from '../lib/address.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { createAsk } from '../lib/outside.ts'
import type { SafeFetch } from '../lib/safe-fetch.ts'
import type { Vault } from '../vault/index.ts'
import { createChartRepository } from './chart-repository.ts'
import { createImageRegistry } from './image-registry.ts'
import {
  checked,
  type Kinds,
  mergeSecrets,
  type RegistryRequest,
  requireConfig,
  type Secrets,
  splitSecrets,
} from './registry-request.ts'
import {
  type ContainerRegistryRow,
  deleteRegistry,
  findRegistry,
  type HelmRepositoryRow,
  insertRegistry,
  listRegistries,
  lockRegistry,
  type RegistryRow,
  type RegistryTable,
  updateRegistry,
} from './registry-store.ts'

export interface RegistriesOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly guard: AddressGuard
  readonly safeFetch: SafeFetch
}

interface Noun {
  readonly table: RegistryTable
  readonly words: string
  readonly kinds: Kinds
}
const nouns = {
  container: { table: 'container_registry', words: 'container registry', kinds: containerRegistryKinds },
  helm: { table: 'helm_repository', words: 'Helm repository', kinds: helmRepositoryKinds },
} as const satisfies Record<string, Noun>

/**
 * Container registries or Helm repositories as records: the same code for both. `images` and
 * `charts` query them.
 */
export function createRegistries(options: RegistriesOptions) {
  const ask = createAsk(options.safeFetch)
  const images = createImageRegistry(ask)
  return {
    containerRegistries: createStored<ContainerRegistryRow>(options, nouns.container),
    helmRepositories: createStored<HelmRepositoryRow>(options, nouns.helm),
    images,
    charts: createChartRepository(ask, images),
  }
}

function createStored<Row extends RegistryRow & { readonly skip_tls_verification?: boolean }>(
  options: RegistriesOptions,
  noun: Noun,
) {
  const { database, vault, clock, guard } = options
  const { table, words, kinds } = noun
  const cell = (row: string) => ({ table, row, column: 'sealed_config' })
  const existing = async (sql: Sql, organizationId: string, id: string): Promise<Row> => {
    const row = await findRegistry<Row>(sql, table, organizationId, id)
    if (!row) throw notFound(words, id)
    return row
  }
  const openSecrets = async (sql: Sql, { id, organization_id, sealed_config }: RegistryRow): Promise<Secrets> => {
    if (sealed_config === null) return {}
    const text = await vault.open(sql, organization_id, cell(id), sealed_config)
    // The opened text is what `seal` below received.
    return JSON.parse(text.reveal()) as Secrets
  }
  const seal = async (sql: Sql, organizationId: string, id: string, secrets: Secrets): Promise<string | null> =>
    Object.keys(secrets).length === 0 ? null : vault.seal(sql, organizationId, cell(id), JSON.stringify(secrets))
  const refuseTaken = (name: string) => (error: unknown) => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `A ${words} with the name "${name}" already exists.`, { cause: error })
  }

  return {
    list: (organizationId: string) => listRegistries<Row>(database, table, organizationId),

    get: (organizationId: string, id: string) => existing(database, organizationId, id),

    /** Returns it with its secrets, for queries. */
    async open(sql: Sql, organizationId: string, id: string): Promise<Row & { readonly secrets: Secrets }> {
      const row = await existing(sql, organizationId, id)
      return { ...row, secrets: await openSecrets(sql, row) }
    },

    async create(organizationId: string, body: RegistryRequest): Promise<Row> {
      const values = checked(body, kinds, guard)
      const { kept } = splitSecrets(body.config)
      requireConfig(body, kinds, { ...values.config, ...kept })
      return inTransaction(database, async (sql) => {
        const id = newId()
        const sealed_config = await seal(sql, organizationId, id, kept)
        await insertRegistry(sql, table, { ...values, id, organization_id: organizationId, sealed_config }, clock.now())
        return existing(sql, organizationId, id)
      }).catch(refuseTaken(values.name))
    },

    async edit(organizationId: string, id: string, body: RegistryRequest): Promise<Row> {
      const values = checked(body, kinds, guard)
      return inTransaction(database, async (sql) => {
        await lockRegistry(sql, table, organizationId, id)
        const row = await existing(sql, organizationId, id)
        const secrets = mergeSecrets(row, values, await openSecrets(sql, row), splitSecrets(body.config))
        requireConfig(body, kinds, { ...values.config, ...secrets })
        const sealed_config = await seal(sql, organizationId, id, secrets)
        await updateRegistry(sql, table, id, { ...values, sealed_config }, clock.now())
        return existing(sql, organizationId, id)
      }).catch(refuseTaken(values.name))
    },

    async remove(organizationId: string, id: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        await lockRegistry(sql, table, organizationId, id)
        const { name, associated_services_count: count } = await existing(sql, organizationId, id)
        if (count > 0) throw new AppError('conflict', `The ${words} "${name}" is used by ${count} services.`)
        await deleteRegistry(sql, table, id)
      })
    },

    /** Lists every kind with the required fields of its configuration. */
    available: () =>
      Object.entries(kinds).map(([kind, { required }]) => ({
        kind,
        required_config: Object.fromEntries(required.map((field) => [field, 'string'])),
        is_mandatory: false,
      })),
  }
}
