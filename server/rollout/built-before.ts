import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import { type BuildRecipe, buildIdentity, type Image, type Promoted } from '../builders/index.ts'
import type { Sql } from '../database/index.ts'
import {
  buildOf,
  isBuiltWithoutCache,
  type ReleaseImage,
  type ReleaseRow,
  sorted,
  type Versioned,
  versionedOf,
} from '../releases/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { existingBuild } from './build-recipe.ts'
import { buildSecretNames } from './build-secrets.ts'
import { type BuiltElsewhere, listBuilds, listBuiltElsewhere } from './built-elsewhere-store.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** By what other services may take the image of a version; undefined where none may. */
export const identityOf = (release: ReleaseRow, recipe: BuildRecipe): string | undefined =>
  buildIdentity(recipe, existingBuild(release).repository.url)

/** An image with that, as a release keeps it. */
export const withIdentity = ({ reference, digest }: Image, identity: string | undefined): ReleaseImage => ({
  reference,
  digest,
  ...(identity === undefined ? {} : { identity }),
})

/**
 * The image of a version that need not be built: the service has it from the same commit and
 * recipe, or another service of the organization has one of the same identity, which is promoted.
 * Null: it has to be built.
 */
export async function builtBefore(
  options: Recipe,
  work: Work,
  release: ReleaseRow,
  { recipe, signal }: { readonly recipe: BuildRecipe; readonly signal: AbortSignal },
): Promise<ReleaseImage | null> {
  const { builder } = options
  const { report } = work
  const identity = identityOf(release, recipe)
  const found = await whileUnreachable(options, signal, report, () => builder.find(recipe, signal))
  if (found) {
    report.line('The image of this commit is there already; nothing is built.')
    return withIdentity(found, identity)
  }
  if (identity === undefined) return null
  const others = await listBuiltElsewhere(options.database, {
    organizationId: work.organizationId,
    serviceId: release.service_id,
    identity,
  })
  for (const other of others) {
    const promoted = await whileUnreachable(options, signal, report, () =>
      builder.promote(other.digest, recipe, signal),
    )
    if (!promoted) continue
    const service = await findService(options.database, release.service_id)
    report.line(promotedText(other, promoted, service?.project_id))
    return withIdentity(promoted, identity)
  }
  return null
}

/**
 * Waits until no other service of the organization builds the same: what that gave is found then.
 * Who it was built for makes no difference, so that services that are deployed together are built
 * once.
 */
export async function aloneWithBuild(
  { slots }: Recipe,
  { report, context, organizationId }: Work,
  identity: string | undefined,
): Promise<Disposable | undefined> {
  if (identity === undefined) return undefined
  const key = `${organizationId}/${identity}`
  if (slots.sameBuilds.isTaken(key)) report.line('The same image is being built for another service; waiting for it.')
  return slots.sameBuilds.take(key, context.signal)
}

/**
 * A service that is built as this one is, as far as settings tell: of the same commit both have one
 * image. Undefined where there is none.
 */
export async function twinOf(sql: Sql, service: ServiceRow): Promise<string | undefined> {
  const build = buildOf(versionedOf(service))
  if (!build) return undefined
  const { organization_id: organizationId, id: serviceId } = service
  const others = await listBuilds(sql, { organizationId, serviceId, url: build.repository.url })
  const wanted = howBuilt(versionedOf(service), service.advanced_settings)
  const twin = others.find((other) => howBuilt(other, other.advanced_settings) === wanted)
  return twin && nameOf(twin, service.project_id)
}

const howBuilt = (versioned: Versioned, advanced: SettingValues): string =>
  sorted([buildOf(versioned), buildSecretNames(advanced), isBuiltWithoutCache(advanced)])

/** Names of what is in other projects are not told. */
const nameOf = ({ kind, service, environment, project_id }: BuiltElsewhere, projectId: string | undefined): string =>
  project_id === projectId ? `${kind} "${service}" of environment "${environment}"` : 'a service of another project'

function promotedText(other: BuiltElsewhere, { builtAt }: Promoted, projectId: string | undefined): string {
  return (
    `The image that was built for ${nameOf(other, projectId)} at ${builtAt.toISOString()} is used: commit and ` +
    'all else that decides the build are the same. Nothing is built.'
  )
}
