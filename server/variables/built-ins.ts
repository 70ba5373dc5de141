import { Secret } from '../lib/secret.ts'
import { builtInId } from './built-in-id.ts'
import { type DatabaseFacts, databaseKeys } from './database-built-ins.ts'

/** A variable that the platform provides. It has no row, and its id never changes. */
export interface BuiltIn {
  readonly id: string
  readonly key: string
  /** The value. Empty for a secret of which only the name was requested. */
  readonly value: string | Secret
  readonly isSecret: boolean
  readonly created_at: Date
  readonly updated_at: Date
  /** The service that it describes, if it describes a service. */
  readonly service?: ServiceFacts
}

interface Facts {
  readonly id: string
  readonly name: string
  readonly created_at: Date
  readonly updated_at: Date
}

export interface ServiceFacts extends Facts {
  readonly kind: string
  /** The host name of its default public port. */
  readonly externalHost?: string
  readonly externalPort?: number
  /** Undefined if the service is not built from git. */
  readonly branch?: string
  /** The commit of the version that is running or being deployed. */
  readonly commit?: string
  /**
   * The version of a service that is not built from git: an image tag, or the version of a chart or
   * database.
   */
  readonly version?: string
  /** Only for a database. */
  readonly database?: DatabaseFacts
  /** Outputs that a job or a Terraform stack reported when it ended. */
  readonly outputs?: readonly Output[]
  /** The deployment that these variables are resolved for. */
  readonly deployment?: string
}

/** An output. A secret one has no `value` if only names were requested. */
export interface Output {
  readonly key: string
  readonly isSecret: boolean
  readonly value?: string | Secret
}

/** The facts that the built-in variables of a project, an environment or a service describe. */
export interface BuiltInFacts {
  readonly project: Facts
  readonly environment?: Facts & {
    readonly mode: string
    readonly cluster: {
      readonly name: string
      readonly cloud_provider: string
      readonly region: string
      /** Whether it is this machine. Other clusters are only records. */
      readonly hasEngine: boolean
      /** The domain of the host names of public services on this machine. */
      readonly domain?: string
    }
    /** All services of the environment, in order of creation. */
    readonly services: readonly ServiceFacts[]
  }
  /** If set, the built-ins are those that this service sees, including its own. */
  readonly service?: ServiceFacts
}

/**
 * The host name of a service inside its environment. It uses the end of the id, which is random in
 * every UUID version.
 */
export const internalHost = (service: { readonly kind: string; readonly id: string }): string =>
  `${service.kind}-z${service.id.slice(-12)}`

/** Kinds with their own keys for id and name. */
const withOwnKeys = new Set(['application', 'container', 'job'])

/** Values by key. An undefined value means that the key does not exist. */
export type Values = Readonly<Record<string, string | Secret | undefined>>

/** Lists the built-in variables. Keys and ids are unique. */
export function builtInsOf({ project, environment, service }: BuiltInFacts): BuiltIn[] {
  const found = new Map<string, BuiltIn>()
  const add = (owner: Facts, values: Values, of?: ServiceFacts): void => {
    const { id: ownerId, created_at, updated_at } = owner
    for (const [key, value] of Object.entries(values)) {
      if (value === undefined) continue
      const isSecret = value instanceof Secret
      const id = builtInId(ownerId, key)
      found.set(key, { id, key, value, isSecret, created_at, updated_at, ...(of && { service: of }) })
    }
  }
  add(project, { QOVERY_PROJECT_ID: project.id })
  if (!environment) return [...found.values()]
  add(environment, {
    QOVERY_ENVIRONMENT_ID: environment.id,
    QOVERY_ENVIRONMENT_NAME: environment.name,
    QOVERY_ENVIRONMENT_TYPE: environment.mode,
    QOVERY_CLOUD_PROVIDER: environment.cluster.cloud_provider,
    QOVERY_CLOUD_PROVIDER_REGION: environment.cluster.region,
    QOVERY_KUBERNETES_CLUSTER_NAME: environment.cluster.name,
    ...(environment.cluster.hasEngine && {
      // The network separates an environment from the others on this engine.
      QOVERY_KUBERNETES_NAMESPACE_NAME: `quay-env-${environment.id}`,
      QOVERY_KUBERNETES_CLUSTER_DOMAIN: environment.cluster.domain,
    }),
  })
  if (service) add(service, ownKeys(service), service)
  for (const [prefix, other] of prefixesOf(environment.services))
    add(other, announcement(prefix, other, environment.name), other)
  return [...found.values()]
}

function ownKeys(service: ServiceFacts): Values {
  const kind = service.kind.toUpperCase()
  return {
    QOVERY_SERVICE_ID: service.id,
    QOVERY_SERVICE_TYPE: kind,
    QOVERY_SERVICE_VERSION: service.version ?? service.commit ?? '',
    QOVERY_COMMIT_ID: service.branch === undefined ? undefined : (service.commit ?? ''),
    QOVERY_DEPLOYMENT_ID: service.deployment ?? '',
    ...(withOwnKeys.has(service.kind) && {
      [`QOVERY_${kind}_ID`]: service.id,
      [`QOVERY_${kind}_NAME`]: service.name,
    }),
  }
}

/** The word between `QOVERY_` and the digits of the service's id. */
function wordOf({ kind, database }: Pick<ServiceFacts, 'kind' | 'database'>): string {
  if (kind === 'job' || kind === 'terraform') return `OUTPUT_${kind}`
  return database?.type ?? kind
}

/**
 * The prefix of the variables that describe a service. Clients build the same prefix from the first
 * eight digits of the id. If two services of a kind share these digits, the younger one uses its
 * whole id, so every name stays unique.
 */
export function prefixesOf<S extends Pick<ServiceFacts, 'id' | 'kind' | 'database'>>(
  services: readonly S[],
): Map<string, S> {
  const prefixOf = (service: S, digits: number): string =>
    `QOVERY_${wordOf(service)}_Z${service.id.replaceAll('-', '').slice(0, digits)}_`.toUpperCase()
  const found = new Map<string, S>()
  const announced = services.filter(({ kind, database }) => kind !== 'database' || database)
  for (const service of announced) found.set(prefixOf(service, found.has(prefixOf(service, 8)) ? 32 : 8), service)
  return found
}

function announcement(prefix: string, service: ServiceFacts, environmentName: string): Values {
  const prefixed = (values: Values): Values =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [`${prefix}${key}`, value]))
  if (service.database) return prefixed(databaseKeys(service.database, internalHost(service)))
  if (service.kind === 'job' || service.kind === 'terraform') return prefixed(outputValues(service.outputs ?? []))
  return prefixed({
    HOST_INTERNAL: internalHost(service),
    HOST_EXTERNAL: service.externalHost,
    PORT_EXTERNAL: service.externalPort?.toString(),
    NAME: service.name,
    ENVIRONMENT_NAME: environmentName,
    GIT_BRANCH: service.branch,
    GIT_COMMIT_ID: service.branch === undefined ? undefined : (service.commit ?? ''),
  })
}

const outputValues = (outputs: readonly Output[]): Values =>
  Object.fromEntries(
    outputs.map(({ key, isSecret, value = '' }) => [
      key,
      isSecret && !(value instanceof Secret) ? new Secret(value) : value,
    ]),
  )
