import { BuildError, type BuildRecipe, type Image, missingDockerfile } from '../builders/index.ts'
import type { Checkout, OwnedRepository } from '../git/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { buildLimitsOf } from './acting-settings.ts'
import { buildSecretsOf } from './build-secrets.ts'
import { imageAgain, versionAgain } from './deployed-version.ts'
import { freeze } from './freeze.ts'
import { setReleaseCommit } from './outcome-store.ts'
import { explainLate, type RecipeOptions, type Work, whileUnreachable } from './recipe.ts'
import { findRelease, findReleaseOf, type ReleaseRow, setReleaseImage } from './release-store.ts'
import { repositoryOf } from './source.ts'
import { type CommitJson, enterState, setTargetCommit } from './target-store.ts'
import { inTurn } from './turn.ts'
import { type Build, buildOf, type Versioned } from './versioned.ts'

/** A repository that does not answer shall not hold a deployment for longer. */
const gitSeconds = 300

/**
 * From the request to a release with an image: pin the commit, freeze settings and variables, fetch, build. Gives the
 * release's id. The same commit and recipe is not built twice; a deployed version that is asked for again is not even fetched.
 */
export async function buildRelease(options: RecipeOptions, work: Work): Promise<string> {
  const { target, step, context, report } = work
  const id = target.service_id
  report.enter('Build')
  const pinned = await inTime(
    step(`${id}/PIN`, ({ signal }) => pinCommit(options, work, signal), { deadlineSeconds: gitSeconds }),
    `The git repository did not answer within ${gitSeconds} s. Check its address and whether it can be reached, and deploy again.`,
  )
  const releaseId = await step(`${id}/FREEZE`, () => freezeOnce(options, work, pinned))
  const release = await existingRelease(options, releaseId)
  const image =
    (pinned.isAgain
      ? await step(`${id}/FIND_IMAGE`, ({ signal }) => imageAgain(options, work, release, signal))
      : null) ?? (await buildFrom(options, work, release))
  await context.fenced((sql) => setReleaseImage(sql, releaseId, image))
  report.enter('Built')
  return releaseId
}

const inTime = <T>(work: Promise<T>, late: string): Promise<T> =>
  explainLate(work, () => new BuildError('timeout', late))

/** Fetches the commit and builds it, where its image is not there. */
async function buildFrom(options: RecipeOptions, work: Work, release: ReleaseRow) {
  const { target, step, report } = work
  const id = target.service_id
  const buildSeconds = options.buildLimits.timeoutSeconds + gitSeconds
  const repository = await releaseRepository(options, work, release)
  if (repository.credential) report.hide([repository.credential.password])
  const fetched: { checkout?: Checkout } = {}
  try {
    const source = { release, repository, fetched }
    const dockerfileText = await inTime(
      step(`${id}/GIT_CLONE`, ({ signal }) => readSource(options, work, source, signal), {
        deadlineSeconds: gitSeconds,
      }),
      `The commit could not be fetched within ${gitSeconds} s. Check whether the git repository can be reached, and deploy again.`,
    )
    const turn = { slots: options.slots.builds, name: 'BUILD_QUEUEING' } as const
    return await inTurn(work, turn, () =>
      inTime(
        step(`${id}/BUILD`, ({ signal }) => build(options, work, source, dockerfileText, signal), {
          deadlineSeconds: buildSeconds,
        }),
        `The image was not built within ${buildSeconds} s. Make the build shorter, or deploy again when less is being built.`,
      ),
    )
  } finally {
    await fetched.checkout?.[Symbol.asyncDispose]()
  }
}

/** What a request is found to deploy. */
type Pin = { readonly branch: string; readonly commit: string; readonly isAgain?: boolean }
type Pinned = CommitJson & { readonly branch: string }
interface Source {
  readonly release: ReleaseRow
  readonly repository: OwnedRepository
  /** Kept between fetching and building; fetched again after a restart in between. */
  readonly fetched: { checkout?: Checkout }
}

async function pinCommit(options: RecipeOptions, work: Work, signal: AbortSignal): Promise<Pin> {
  await work.context.fenced((sql) => enterState(sql, work.target, 'BUILDING'))
  const again = (await versionAgain(options, work))?.commit
  if (again) return { branch: again.branch, commit: again.id, isAgain: true }
  const service = await existingService(options, work)
  const { database, readCredential, git } = options
  const repository = await repositoryOf(
    database,
    readCredential,
    work.organizationId,
    existingBuild(service).repository,
  )
  const { wanted_commit } = work.target
  work.report.line(`Reading ${repository.url}.`)
  if (wanted_commit) {
    const commit = await git.resolveCommit(repository, wanted_commit, signal)
    return { branch: repository.branch ?? (await git.resolveHead(repository, signal)).branch, commit }
  }
  return git.resolveHead(repository, signal)
}

/** Freezes once: a second try finds the release of the first. */
function freezeOnce({ vault, clock }: RecipeOptions, work: Work, pinned: Pin): Promise<string> {
  const { request, target, context } = work
  return context.fenced(async (sql) => {
    const former = await findReleaseOf(sql, target.service_id, request.id)
    if (former) return former.id
    const service = await findService(sql, target.service_id)
    if (!service) throw new Error(`service ${target.service_id} is gone`)
    const now = clock.now()
    const commit: Pinned = {
      id: pinned.commit,
      created_at: now.toISOString(),
      message: '',
      author_name: '',
      branch: pinned.branch,
    }
    const release = await freeze(sql, vault, service, { id: request.id, commit, now })
    return release.id
  })
}

const contextPath = (release: ReleaseRow): string =>
  existingBuild(release).repository.root_path.replace(/^\/+|\/+$/g, '')
const dockerfilePath = (release: ReleaseRow): string => existingBuild(release).dockerfilePath

function existingBuild(versioned: Versioned): Build {
  const build = buildOf(versioned)
  if (!build) throw new Error(`a ${versioned.kind} is not built from a repository`)
  return build
}

/** Fetches the commit, tells history of it, and gives the text of the Dockerfile. */
async function readSource(options: RecipeOptions, work: Work, source: Source, signal: AbortSignal): Promise<string> {
  const { release } = source
  const checkout = await open(options, work, source, signal)
  failpoint('git.cloned')
  const { id, createdAt, message, authorName } = checkout.commit
  const commit = { id, created_at: createdAt.toISOString(), message, author_name: authorName }
  await work.context.fenced(async (sql) => {
    await setTargetCommit(sql, work.target, commit)
    await setReleaseCommit(sql, release.id, commit)
  })
  work.report.line(`Commit ${id.slice(0, 12)} by ${authorName}: ${message.split('\n')[0] ?? ''}`)
  const { dockerfileRaw } = existingBuild(release)
  if (dockerfileRaw !== null) return dockerfileRaw
  const rootPath = contextPath(release)
  const path = [rootPath, dockerfilePath(release)].filter((part) => part !== '').join('/')
  const dockerfile = await checkout.readFile(path, signal)
  if (!dockerfile) throw missingDockerfile({ ...recipeOf(options, source, ''), commit: id })
  return dockerfile.toString()
}

async function open(options: RecipeOptions, work: Work, source: Source, signal: AbortSignal): Promise<Checkout> {
  source.fetched.checkout ??= await options.git.checkout(source.repository, source.release.commit?.id ?? '', {
    signal,
    output: work.report,
  })
  return source.fetched.checkout
}

async function build(
  options: RecipeOptions,
  work: Work,
  source: Source,
  dockerfileText: string,
  signal: AbortSignal,
): Promise<{ reference: string; digest: string }> {
  const secrets = await buildSecretsOf(options, work.organizationId, source.release)
  work.report.hide(Object.values(secrets.secrets ?? {}))
  const recipe = { ...recipeOf(options, source, dockerfileText), ...secrets }
  const { builder } = options
  const { reference, digest } = await whileUnreachable(options, signal, work.report, async (): Promise<Image> => {
    const found = await builder.find(recipe, signal)
    if (found) {
      work.report.line('The image of this commit is there already; nothing is built.')
      return found
    }
    const archive = async () => (await open(options, work, source, signal)).archive(recipe.rootPath, signal)
    return builder.build(archive, recipe, { signal, output: work.report })
  })
  failpoint('build.done')
  return { reference, digest }
}

function recipeOf(options: RecipeOptions, { release }: Source, dockerfileText: string): BuildRecipe {
  const { targetStage: stage, dockerfileRaw } = existingBuild(release)
  return {
    service: release.service_id,
    commit: release.commit?.id ?? '',
    rootPath: contextPath(release),
    dockerfile: dockerfilePath(release),
    ...(stage ? { targetStage: stage } : {}),
    ...(dockerfileRaw === null ? {} : { hasOwnDockerfile: true }),
    dockerfileText,
    variables: release.variables.variables,
    limits: buildLimitsOf(options.buildLimits, release.advanced_settings),
  }
}

async function existingRelease({ database }: RecipeOptions, id: string): Promise<ReleaseRow> {
  const release = await findRelease(database, id)
  if (!release) throw new Error(`release ${id} is gone`)
  return release
}

async function existingService({ database }: RecipeOptions, { target }: Work): Promise<ServiceRow> {
  const service = await findService(database, target.service_id)
  if (!service) throw new Error(`service ${target.service_id} is gone`)
  return service
}

const releaseRepository = (options: RecipeOptions, work: Work, release: ReleaseRow): Promise<OwnedRepository> =>
  repositoryOf(options.database, options.readCredential, work.organizationId, existingBuild(release).repository)
