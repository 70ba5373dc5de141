import { Secret } from '../lib/secret.ts'
import { builtInId } from './built-in-id.ts'
import { type DatabaseFacts, databaseKeys } from './database-built-ins.ts'

/** A variable that the platform makes: it has no row, and the same id every time. */
export interface BuiltIn {
  readonly id: string
  readonly key: string
  /** Of a secret one, an empty text where only its name was asked for. */
  readonly value: string | Secret
  readonly isSecret: boolean
  readonly created_at: Date
  readonly updated_at: Date
  /** Of whom it tells, where that is a service. */
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
  /** Undefined: not built from git. */
  readonly branch?: string
  /** Of the version that runs, or is being deployed. */
  readonly commit?: string
  /** Of what is not built from git: a tag, a chart's version, a database's. */
  readonly version?: string
  /** Given for a database. */
  readonly database?: DatabaseFacts
  /** What a job or a Terraform stack told at its end. */
  readonly outputs?: readonly Output[]
  /** The deployment that these variables are for. */
  readonly deployment?: string
}

/** `value` of a secret one is absent where only names were asked for. */
export interface Output {
  readonly key: string
  readonly isSecret: boolean
  readonly value?: string | Secret
}

/** What the built-ins of a project, an environment or a service tell of. */
export interface BuiltInFacts {
  readonly project: Facts
  readonly environment?: Facts & {
    readonly mode: string
    readonly cluster: {
      readonly name: string
      readonly cloud_provider: string
      readonly region: string
      /** It is this machine; others are records only. */
      readonly hasEngine: boolean
      /** Below which public services of this machine have their names. */
      readonly domain?: string
    }
    /** All of the environment, in the order of creation. */
    readonly services: readonly ServiceFacts[]
  }
  /** Given: the built-ins that this service sees, its own ones included. */
  readonly service?: ServiceFacts
}

/** The name by which other services of the same environment reach a service. From the end of the id, which is random in every version of it. */
export const internalHost = (service: { readonly kind: string; readonly id: string }): string =>
  `${service.kind}-z${service.id.slice(-12)}`

/** Kinds whose own id and name have keys of their own. */
const withOwnKeys = new Set(['application', 'container', 'job'])

/** The values of keys; undefined: there is no such key. */
export type Values = Readonly<Record<string, string | Secret | undefined>>

/** No key and no id comes twice. */
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
      // What keeps an environment apart from others on this engine: its network.
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

/** What stands between `QOVERY_` and the digits of the service's id. */
function wordOf({ kind, database }: Pick<ServiceFacts, 'kind' | 'database'>): string {
  if (kind === 'job' || kind === 'terraform') return `OUTPUT_${kind}`
  return database?.type ?? kind
}

/**
 * What the names that tell of a service begin with. Clients build these very prefixes from the first eight digits of its id.
 * Should two services of a kind share them, the younger one has its whole id there, so that one name never means two things.
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
    HOST_EXTERNAL: service.externalHost?.split(':')[0],
    PORT_EXTERNAL: service.externalHost?.split(':')[1],
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
