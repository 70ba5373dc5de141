import { type KindName, kindNames, serviceKinds } from '@quayside/contract/services/kinds.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { ServiceRow } from '../services/index.ts'

/**
 * The desired version of a service. An absent, null or empty field means the version in its
 * settings.
 */
export interface WantedVersion {
  readonly git_commit_id?: string | null
  readonly image_tag?: string | null
  readonly chart_version?: string | null
  readonly values_override_git_commit_id?: string | null
  readonly action?: 'PLAN' | 'FORCE_UNLOCK' | 'MIGRATE_STATE' | null
  readonly plan_run_id?: string | null
}

/** The fields `application_ids`, `container_ids` … of a body. */
export type ServiceIds = { readonly [K in KindName as `${K}_ids`]?: readonly string[] | null }

type Entry = string | (WantedVersion & ({ readonly id: string } | { readonly application_id: string }))
/** The fields `applications`, `containers` … of a body, each with the desired version. */
export type ServiceVersions = {
  readonly [K in KindName as (typeof serviceKinds)[K]['plural']]?: readonly Entry[] | null
}

export interface Chosen {
  readonly service: ServiceRow
  readonly wanted: WantedVersion
  /** The field of the body that names the service: `applications[0]`. */
  readonly field: string
}

interface Named {
  readonly kind: KindName
  readonly id: string
  readonly wanted: WantedVersion
  readonly field: string
  /** The field of the id, which may be a member of `field`. */
  readonly idField: string
}

/** Pure: returns the services of the environment that the body names by id, each once. */
export const chosenByIds = (services: readonly ServiceRow[], body: ServiceIds): Chosen[] =>
  choose(
    services,
    kindNames.flatMap((kind) =>
      (body[`${kind}_ids`] ?? []).map((id, index): Named => {
        const field = `${kind}_ids[${index}]`
        return { kind, id, wanted: {}, field, idField: field }
      }),
    ),
  )

/**
 * Pure: returns the services that the body names with versions. If it names a service twice, the
 * last version counts.
 */
export const chosenByVersions = (services: readonly ServiceRow[], body: ServiceVersions): Chosen[] =>
  choose(
    services,
    kindNames.flatMap((kind) => {
      const { plural } = serviceKinds[kind]
      return (body[plural] ?? []).map((entry, index): Named => {
        const field = `${plural}[${index}]`
        if (typeof entry === 'string') return { kind, id: entry, wanted: {}, field, idField: field }
        if ('id' in entry) return { kind, id: entry.id, wanted: entry, field, idField: `${field}.id` }
        return { kind, id: entry.application_id, wanted: entry, field, idField: `${field}.application_id` }
      })
    }),
  )

/**
 * Returns the named services. Throws 404 for a service that is not in the environment, and 400 for
 * one of another kind or for an empty list.
 */
function choose(services: readonly ServiceRow[], named: readonly Named[]): Chosen[] {
  if (named.length === 0) throw new AppError('invalid', 'The body names no service. Name at least one.')
  const byId = new Map(services.map((service) => [service.id, service]))
  const chosen = named.map(({ kind, id, wanted, field, idField }): Chosen => {
    const service = byId.get(id.toLowerCase())
    if (!service) throw notFound('service', id, { field: idField, advice: 'Name services of this environment.' })
    if (service.kind !== kind) {
      throw new AppError('invalid', `${idField}: service "${service.name}" is of the kind ${service.kind}.`)
    }
    return { service, wanted, field }
  })
  return [...new Map(chosen.map((one) => [one.service.id, one])).values()]
}
