import type { Image } from '../builders/index.ts'
import {
  buildOf,
  findDeployedRelease,
  imageOf,
  ofEachDeployment,
  type ReleaseImage,
  type ReleaseRow,
  sorted,
  type Versioned,
} from '../releases/index.ts'
import { setTargetCommit } from '../requests/index.ts'
import { findService, type Origin } from '../services/index.ts'
import { type BuildSecrets, buildSecretsOf } from './build-secrets.ts'
import { setReleaseCommit } from './outcome-store.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** A version whose image is known. */
export type Deployed = ReleaseRow & { readonly image: Image }

/**
 * Returns the deployed version if the request asks to keep it. Undefined if it does not, if nothing
 * was ever deployed, or if the settings name another repository, branch or image since: then the
 * settings count.
 */
export async function versionAgain(
  { database }: Pick<Recipe, 'database'>,
  { target, report }: Pick<Work, 'target' | 'report'>,
): Promise<Deployed | undefined> {
  if (!target.same_version) return undefined
  const service = await findService(database, target.service_id)
  const deployed = await findDeployedRelease(database, target.service_id)
  if (!service || !deployed?.image) return undefined
  const { image } = deployed
  if (isSameSource(service, { ...deployed, image }, service.origin)) return { ...deployed, image }
  report.line('The settings name another source than the deployed version does; the settings are used.')
  return undefined
}

/** Pure: returns whether settings name the branch or the image that a version was made from. */
export function isSameSource(
  settings: Versioned,
  deployed: Versioned & { readonly image: Image },
  origin: Origin | null,
): boolean {
  const [build, former] = [buildOf(settings), buildOf(deployed)]
  if (build || former) {
    return build?.repository.url === former?.repository.url && build?.repository.branch === former?.repository.branch
  }
  const image = imageOf(settings, origin)
  if (image === undefined || image !== imageOf(deployed, origin)) return false
  // A version's settings do not include the registry. An image that the engine made itself has
  // none.
  const { reference } = deployed.image
  return reference.startsWith('sha256:') || reference.startsWith(`${image.slice(0, image.lastIndexOf(':'))}@`)
}

/**
 * Returns the image of the deployed version if it still exists and a build could produce no other.
 * Null: the commit must be fetched.
 */
export async function imageAgain(
  options: Recipe,
  work: Work,
  release: ReleaseRow,
  signal: AbortSignal,
): Promise<ReleaseImage | null> {
  const { database, builder } = options
  const { report, target, context, organizationId } = work
  const deployed = await findDeployedRelease(database, target.service_id)
  if (!deployed?.image || !deployed.commit || deployed.commit.id !== release.commit?.id) return null
  const { commit, image } = deployed
  const [wanted, former] = await Promise.all(
    [release, deployed].map(async (of) => buildInputs(of, await buildSecretsOf(options, organizationId, of))),
  )
  if (wanted !== former) return null
  if (!(await whileUnreachable(options, signal, report, () => builder.has(image, signal)))) return null
  await context.fenced(async (sql) => {
    await setTargetCommit(sql, target, commit)
    await setReleaseCommit(sql, release.id, commit)
  })
  report.line(
    `The image of the deployed commit ${commit.id.slice(0, 12)} exists, and nothing that decides its build ` +
      'changed: nothing is built.',
  )
  return image
}

/**
 * Returns everything that may decide a build as one string, without the values that differ in every
 * deployment.
 */
function buildInputs(release: ReleaseRow, { secretsHash }: BuildSecrets): string {
  const { variables } = release.variables
  const lasting = Object.entries(variables).filter(([key]) => !ofEachDeployment.test(key))
  const text = sorted({ build: buildOf(release), variables: Object.fromEntries(lasting), secretsHash })
  const id = variables['QOVERY_DEPLOYMENT_ID'] ?? ''
  return id === '' ? text : text.replaceAll(id, '')
}
