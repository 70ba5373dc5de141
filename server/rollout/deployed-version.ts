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
 * The version that a request asks for again. Undefined where it asks for none, where nothing was
 * ever deployed, and where the settings name another repository, branch or image since: then they
 * count.
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
  report.line('The settings name another source than that of the deployed version, and are followed.')
  return undefined
}

/** Pure: whether settings name the branch or the image that a version was made from. */
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
  // The registry is no part of the settings that a version keeps. What the engine itself made is of
  // none.
  const { reference } = deployed.image
  return reference.startsWith('sha256:') || reference.startsWith(`${image.slice(0, image.lastIndexOf(':'))}@`)
}

/**
 * The image of the deployed version, where a build of the new one could give no other and it is
 * there still. Null: the commit has to be looked at.
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
    `The image of the deployed commit ${commit.id.slice(0, 12)} is there, and nothing that decides its build ` +
      'changed: nothing is built.',
  )
  return image
}

/**
 * Everything that may decide a build, as one text; without what differs from one deployment to the
 * next by its nature.
 */
function buildInputs(release: ReleaseRow, { secretsHash }: BuildSecrets): string {
  const { variables } = release.variables
  const lasting = Object.entries(variables).filter(([key]) => !ofEachDeployment.test(key))
  const text = sorted({ build: buildOf(release), variables: Object.fromEntries(lasting), secretsHash })
  const id = variables['QOVERY_DEPLOYMENT_ID'] ?? ''
  return id === '' ? text : text.replaceAll(id, '')
}
