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

/** What `service.settings` holds, by the kind: wire names, defaults filled in, no secret. */
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
/** What of a record follows from the settings; the rest is the same for every kind. */
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
 * The provider of the git token that the repository at this place of the settings uses; undefined
 * without one.
 */
export type TokenTypes = (path: string) => Provider | undefined

/** A container registry or a Helm repository. */
export interface Origin {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly kind: string
}

/** What a record tells beside the settings. */
export interface RecordFacts extends RepositoryRecordFacts {
  readonly ceiling: Ceiling
  /** Of the container registry or Helm repository that the settings name. */
  readonly origin: Origin | null
  /** The name by which other services of the environment reach this one. */
  readonly host: string
  /** Where it answers outside of its environment without the router; null: nowhere. */
  readonly publicAddress: { readonly host: string; readonly port: number } | null
}

/** What is there of a service's data. */
export interface DataFacts {
  readonly name: string
  /** Of a database: the version that last had its data; null: there is none. */
  readonly dataVersion: string | null
}

/** All that tells one kind of service from another, without any I/O. */
export interface Branch<K extends KindName> {
  /** Settings of a new one, from a body whose defaults are filled in. */
  create(body: CreateBody<K>, types: TokenTypes): SettingsOf[K]
  /** Settings after a change: what the body leaves out stays, null clears. */
  change(former: SettingsOf[K], body: EditBody<K>, types: TokenTypes): SettingsOf[K]
  /** Throws what is broken beyond the form of single fields. */
  check(settings: SettingsOf[K], ceiling: Ceiling): void
  /** Throws what may not follow on the settings that were there, once they were deployed. */
  checkDeployed?(former: SettingsOf[K], next: SettingsOf[K], data: DataFacts): void
  /** Where git repositories stand in bodies and settings. */
  readonly repositories: readonly string[]
  /** Where the id of a container registry or Helm repository stands. */
  readonly origins: readonly { readonly table: 'container_registry' | 'helm_repository'; readonly path: string }[]
  /**
   * Secret values that the body brings, by name; undefined keeps the stored one. What is not named
   * is removed.
   */
  secrets?(body: EditBody<K>): Readonly<Record<string, string | undefined>> | undefined
  /** The part of the record that follows from the settings. */
  record(settings: SettingsOf[K], facts: RecordFacts): RecordPart<K>
}

/** Of settings that name one: the database keeps it from going away before they do. */
export function originOf({ origin }: RecordFacts): Origin {
  if (!origin) throw new Error('the registry or repository of a service is gone')
  return origin
}

/** A member of nested objects by its dotted path; undefined where there is none. */
export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner === null ? undefined : Object(inner)[name]), value)

/** The members of a body that were sent. */
export const given = <T extends object>(body: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  // Only members that are undefined are left out, which the type says too.
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as never

/** A member that null clears, and that is left out of the settings then. */
export const cleared = <const K extends string, V>(key: K, value: V | null | undefined, former: V | undefined) => {
  const next = value === undefined ? former : value
  // An object with this one member, or with none.
  return (next === null || next === undefined ? {} : { [key]: next }) as { readonly [k in K]?: V }
}
