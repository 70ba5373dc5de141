import type { Static } from '@quayside/contract'
import type { KindName, serviceKinds } from '@quayside/contract/services/kinds.ts'
import type { ApplicationSettings } from './application.ts'
import type { ContainerSettings } from './container.ts'
import type { DatabaseSettings } from './database.ts'
import type { HelmSettings } from './helm.ts'
import type { JobSettings } from './job.ts'
import type { Provider, RepositoryRecordFacts } from './repository.ts'
import type { Ceiling } from './rules.ts'
import type { TerraformSettings } from './terraform.ts'

/** `service.settings` by kind: wire names, with defaults, without secrets. */
export interface SettingsOf {
  readonly application: ApplicationSettings
  readonly container: ContainerSettings
  readonly database: DatabaseSettings
  readonly job: JobSettings
  readonly helm: HelmSettings
  readonly terraform: TerraformSettings
}
export type Settings = SettingsOf[KindName]
export type CreateBody<K extends KindName> = Static<(typeof serviceKinds)[K]['create']>
export type EditBody<K extends KindName> = Static<(typeof serviceKinds)[K]['edit']>

export type RecordOf<K extends KindName> = Static<(typeof serviceKinds)[K]['record']>
/** The part of a record that follows from the settings; the rest is the same for every kind. */
export type RecordPart<K extends KindName> = Omit<RecordOf<K>, CommonField>
type CommonField =
  | 'id'
  | 'created_at'
  | 'updated_at'
  | 'environment'
  | 'name'
  | 'description'
  | 'service_type'
  | 'annotations_groups'
  | 'labels_groups'
  | 'autoscaling'

/**
 * Returns the provider of the git token for the repository at this path of the settings. Undefined
 * without a token.
 */
export type TokenTypes = (path: string) => Provider | undefined

/** A container registry or a Helm repository. */
export interface Origin {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly kind: string
}

/** The members of a record that do not come from the settings. */
export interface RecordFacts extends RepositoryRecordFacts {
  readonly ceiling: Ceiling
  /** Name and address of the container registry or Helm repository that the settings name. */
  readonly origin: Origin | null
  /** The name by which other services of the environment reach this one. */
  readonly host: string
  /** The address outside its environment that does not use the router; null if there is none. */
  readonly publicAddress: { readonly host: string; readonly port: number } | null
}

/** The existing data of a service. */
export interface DataFacts {
  readonly name: string
  /** For a database, the version that last used its data; null if there are no data. */
  readonly dataVersion: string | null
}

/** Everything that distinguishes one kind of service from another, without I/O. */
export interface Branch<K extends KindName> {
  /** Returns the settings of a new service, from a body with its defaults. */
  create(body: CreateBody<K>, types: TokenTypes): SettingsOf[K]
  /**
   * Returns the settings after a change: members that the body omits are unchanged, null clears.
   */
  change(former: SettingsOf[K], body: EditBody<K>, types: TokenTypes): SettingsOf[K]
  /** Throws for a broken rule beyond the form of single fields. */
  check(settings: SettingsOf[K], ceiling: Ceiling): void
  /** Throws for a change that is not allowed once the previous settings were deployed. */
  checkDeployed?(former: SettingsOf[K], next: SettingsOf[K], data: DataFacts): void
  /** The paths of git repositories in bodies and settings. */
  readonly repositories: readonly string[]
  /** The path of the id of a container registry or Helm repository. */
  readonly origins: readonly { readonly table: 'container_registry' | 'helm_repository'; readonly path: string }[]
  /**
   * Returns the secret values of a body by name; undefined keeps the stored one. A secret that is
   * not named is removed.
   */
  secrets?(body: EditBody<K>): Readonly<Record<string, string | undefined>> | undefined
  /** Returns the part of the record that follows from the settings. */
  record(settings: SettingsOf[K], facts: RecordFacts): RecordPart<K>
}

/** Returns the origin of settings that name one. The database keeps it as long as they do. */
export function originOf({ origin }: RecordFacts): Origin {
  if (!origin) throw new Error('the registry or repository of a service is gone')
  return origin
}

/** Returns a member of nested objects by its dotted path; undefined if it is missing. */
export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner === null ? undefined : Object(inner)[name]), value)

/** Returns the members of a body that were sent. */
export const given = <T extends object>(body: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // Only undefined members are omitted, as the type says.
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as never

/**
 * Returns an object with a member that null clears: a cleared member is omitted from the settings.
 */
export const cleared = <const K extends string, V>(key: K, value: V | null | undefined, former: V | undefined) => {
  const next = value === undefined ? former : value
  // An object with this one member, or with none.
  return (next === null || next === undefined ? {} : { [key]: next }) as { readonly [k in K]?: V }
}
