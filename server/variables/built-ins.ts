import { derivedId } from '../lib/id.ts'

/** A variable that the platform makes: it has no row, and the same id every time. */
export interface BuiltIn {
  readonly id: string
  readonly key: string
  readonly value: string
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
  /** The deployment that these variables are for. */
  readonly deployment?: string
}

/** What the built-ins of a project, an environment or a service tell of. */
export interface BuiltInFacts {
  readonly project: Facts
  readonly environment?: Facts & {
    readonly mode: string
    readonly cluster: { readonly name: string; readonly cloud_provider: string; readonly region: string }
    /** All of the environment, in the order of creation. */
    readonly services: readonly ServiceFacts[]
  }
  /** Given: the built-ins that this service sees, its own ones included. */
  readonly service?: ServiceFacts
}

/** The name by which other services of the same environment reach a service. From the end of the id, which is random in every version of it. */
export const internalHost = (service: { readonly kind: string; readonly id: string }): string =>
  `${service.kind}-z${service.id.slice(-12)}`

/** Kinds whose services are announced to the whole environment, and whose own id has a key of its own. */
const announced = new Set(['application', 'container', 'helm'])
const withOwnKeys = new Set(['application', 'container', 'job'])

/** No key and no id comes twice. */
export function builtInsOf({ project, environment, service }: BuiltInFacts): BuiltIn[] {
  const found = new Map<string, BuiltIn>()
  const add = (owner: Facts, values: Readonly<Record<string, string | undefined>>, of?: ServiceFacts): void => {
    for (const [key, value] of Object.entries(values)) {
      if (value === undefined) continue
      const { created_at, updated_at } = owner
      found.set(key, { id: derivedId(owner.id, key), key, value, created_at, updated_at, ...(of && { service: of }) })
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
  })
  if (service) add(service, ownKeys(service), service)
  for (const [prefix, other] of prefixes(environment.services))
    add(other, announcement(prefix, other, environment.name), other)
  return [...found.values()]
}

function ownKeys(service: ServiceFacts): Record<string, string | undefined> {
  const kind = service.kind.toUpperCase()
  return {
    QOVERY_SERVICE_ID: service.id,
    QOVERY_SERVICE_TYPE: kind,
    QOVERY_SERVICE_VERSION: service.commit ?? '',
    QOVERY_COMMIT_ID: service.branch === undefined ? undefined : (service.commit ?? ''),
    QOVERY_DEPLOYMENT_ID: service.deployment ?? '',
    ...(withOwnKeys.has(service.kind) && {
      [`QOVERY_${kind}_ID`]: service.id,
      [`QOVERY_${kind}_NAME`]: service.name,
    }),
  }
}

/**
 * Clients build these very prefixes from the first eight digits of a service's id. Should two services of a kind share
 * them, the younger one has its whole id there, so that one name never means two things.
 */
function prefixes(services: readonly ServiceFacts[]): Map<string, ServiceFacts> {
  const prefixOf = (service: ServiceFacts, digits: number): string =>
    `QOVERY_${service.kind}_Z${service.id.replaceAll('-', '').slice(0, digits)}_`.toUpperCase()
  const found = new Map<string, ServiceFacts>()
  for (const service of services.filter(({ kind }) => announced.has(kind)))
    found.set(prefixOf(service, found.has(prefixOf(service, 8)) ? 32 : 8), service)
  return found
}

const announcement = (
  prefix: string,
  service: ServiceFacts,
  environmentName: string,
): Record<string, string | undefined> => ({
  [`${prefix}HOST_INTERNAL`]: internalHost(service),
  [`${prefix}HOST_EXTERNAL`]: service.externalHost,
  [`${prefix}NAME`]: service.name,
  [`${prefix}ENVIRONMENT_NAME`]: environmentName,
  [`${prefix}GIT_BRANCH`]: service.branch,
  [`${prefix}GIT_COMMIT_ID`]: service.branch === undefined ? undefined : (service.commit ?? ''),
})
