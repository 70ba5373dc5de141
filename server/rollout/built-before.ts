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

/**
 * Returns the key by which other services find the image of a version. Undefined if they must not
 * use it.
 */
export const identityOf = (release: ReleaseRow, recipe: BuildRecipe): string | undefined =>
  buildIdentity(recipe, existingBuild(release).repository.url)

/** Returns an image with its identity, as a release stores it. */
export const withIdentity = ({ reference, digest }: Image, identity: string | undefined): ReleaseImage => ({
  reference,
  digest,
  ...(identity === undefined ? {} : { identity }),
})

/**
 * Returns the existing image of a version, or null if it must be built. The service may have one of
 * the same commit and recipe. Otherwise an image of the same identity is promoted from another
 * service of the organization.
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
    report.line('The image of this commit already exists; nothing is built.')
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
 * Waits until no other service of the organization builds the same image; its result can be reused
 * then. So services that are deployed together build a common image once.
 */
export async function aloneWithBuild(
  { slots }: Recipe,
  { report, context, organizationId }: Work,
  identity: string | undefined,
): Promise<Disposable | undefined> {
  if (identity === undefined) return undefined
  const key = `${organizationId}/${identity}`
  if (slots.sameBuilds.isTaken(key)) report.line('Another service is building the same image; waiting for it.')
  return slots.sameBuilds.take(key, context.signal)
}

/**
 * Returns the name of a service with the same build settings: for the same commit both get one
 * image. Undefined if there is no such service.
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

/** Hides the names of services in other projects. */
const nameOf = ({ kind, service, environment, project_id }: BuiltElsewhere, projectId: string | undefined): string =>
  project_id === projectId ? `${kind} "${service}" of environment "${environment}"` : 'a service of another project'

function promotedText(other: BuiltElsewhere, { builtAt }: Promoted, projectId: string | undefined): string {
  return (
    `The image that was built for ${nameOf(other, projectId)} at ${builtAt.toISOString()} is used: the commit and ` +
    'everything else that decides the build are the same. Nothing is built.'
  )
}
