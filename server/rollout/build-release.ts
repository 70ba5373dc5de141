import { BuildError, type BuildRecipe, missingDockerfile } from '../builders/index.ts'
import type { Checkout, OwnedRepository } from '../git/index.ts'
import { everyOne } from '../lib/every-one.ts'
import { failpoint } from '../lib/failpoint.ts'
import {
  type CommitJson,
  findRelease,
  findReleaseOf,
  freeze,
  type ReleaseImage,
  type ReleaseRow,
  setReleaseImage,
} from '../releases/index.ts'
import { enterState, repositoryOf, setTargetCommit } from '../requests/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import {
  contextPath,
  existingBuild,
  plainRecipe,
  readIgnoreFileOf,
  type SourceTexts,
  wholeRecipe,
} from './build-recipe.ts'
import { aloneWithBuild, builtBefore, identityOf, withIdentity } from './built-before.ts'
import { imageAgain, versionAgain } from './deployed-version.ts'
import { knownSource } from './known-source.ts'
import { setReleaseCommit } from './outcome-store.ts'
import { publishImage } from './publish-image.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'
import { stackDockerfileOf } from './stack-dockerfile.ts'
import { inTurn } from './turn.ts'

/** The longest time that a deployment waits for a repository. */
const gitSeconds = 300

/**
 * Makes a release with an image: pins the commit, freezes settings and variables, fetches, builds.
 * Returns the release's id. An image of the same commit and recipe is reused. A request for the
 * deployed version does not fetch the commit either.
 */
export async function buildRelease(options: Recipe, work: Work): Promise<string> {
  const { target, step, context, report } = work
  const id = target.service_id
  report.enter('Build')
  const pinned = await inTime(
    step(`${id}/PIN`, ({ signal }) => pinCommit(options, work, signal), { deadlineSeconds: gitSeconds }),
    `The git repository did not answer within ${gitSeconds} s. Check its address and whether it can be ` +
      'reached, and deploy again.',
  )
  const releaseId = await step(`${id}/FREEZE`, () => freezeOnce(options, work, pinned))
  const release = await existingRelease(options, releaseId)
  const again = pinned.isAgain
    ? await step(`${id}/FIND_IMAGE`, ({ signal }) => imageAgain(options, work, release, signal))
    : null
  if (again) await context.fenced((sql) => setReleaseImage(sql, releaseId, again))
  else await buildFrom(options, work, release)
  await publishImage(options, work, releaseId)
  report.enter('Built')
  return releaseId
}

const inTime = <T>(work: Promise<T>, late: string): Promise<T> =>
  explainLate(work, () => new BuildError('timeout', late))

/** Fetches the commit and gives the release an image of it. */
async function buildFrom(options: Recipe, work: Work, release: ReleaseRow): Promise<void> {
  const { target, step, report } = work
  const repository = await releaseRepository(options, work, release)
  if (repository.credential) report.hide([repository.credential.password])
  const fetched: { checkout?: Checkout } = {}
  try {
    const source = { release, repository, fetched, isSearched: false }
    const recorded: SourceTexts | string = await inTime<SourceTexts | string>(
      step(`${target.service_id}/GIT_CLONE`, ({ signal }) => readSource(options, work, source, signal), {
        deadlineSeconds: gitSeconds,
      }),
      `The commit could not be fetched within ${gitSeconds} s. Check whether the git repository can be ` +
        'reached, and deploy again.',
    )
    // An earlier server, without ignore files, recorded only the text of the Dockerfile.
    const texts =
      typeof recorded === 'string'
        ? await readSource(options, work, source, AbortSignal.timeout(gitSeconds * 1000))
        : recorded
    await takeOrBuild(options, work, source, texts)
  } finally {
    await fetched.checkout?.[Symbol.asyncDispose]()
  }
}

/** Builds the image unless it exists or another service of the organization has the same one. */
async function takeOrBuild(options: Recipe, work: Work, source: Source, texts: SourceTexts): Promise<void> {
  const { step, context, target } = work
  const { release } = source
  const id = target.service_id
  const buildSeconds = options.buildLimits.timeoutSeconds + gitSeconds
  const recipe = await wholeRecipe(options, work, release, texts)
  using _ = await aloneWithBuild(options, work, identityOf(release, recipe))
  const former = await inTime(
    step(
      `${id}/FIND_BUILT`,
      async ({ signal }) => {
        const found = await builtBefore(options, work, release, { recipe, signal })
        source.isSearched = true
        return found
      },
      { deadlineSeconds: buildSeconds },
    ),
    `The engine did not list its images within ${buildSeconds} s. Deploy again when it answers.`,
  )
  const turn = { slots: options.slots.builds, name: 'BUILD_QUEUEING' } as const
  const image =
    former ??
    (await inTurn(work, turn, () =>
      inTime(
        step(`${id}/BUILD`, ({ signal }) => build(options, work, source, recipe, signal), {
          deadlineSeconds: buildSeconds,
        }),
        `The image was not built within ${buildSeconds} s. Shorten the build, or deploy again when fewer ` +
          'builds are running.',
      ),
    ))
  // Services that wait for the same build find its image here.
  await context.fenced((sql) => setReleaseImage(sql, release.id, image))
}

/** The commit that a request deploys. */
type Pin = { readonly branch: string; readonly commit: string; readonly isAgain?: boolean }
type Pinned = CommitJson & { readonly branch: string }
interface Source {
  readonly release: ReleaseRow
  readonly repository: OwnedRepository
  /** Kept from fetch to build. A restart in between fetches it again. */
  readonly fetched: { checkout?: Checkout }
  /** Whether this process has just searched for the image. */
  isSearched: boolean
}

async function pinCommit(options: Recipe, work: Work, signal: AbortSignal): Promise<Pin> {
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

/** Freezes once: a retry finds the release of the first try. */
function freezeOnce({ vault, clock }: Recipe, work: Work, pinned: Pin): Promise<string> {
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

/** Fetches the commit, records it in the history and returns the files that decide the build. */
async function readSource(options: Recipe, work: Work, source: Source, signal: AbortSignal): Promise<SourceTexts> {
  const { release } = source
  const known = await knownSource(options, release, signal)
  if (known) {
    await recordCommit(work, release, known.commit)
    return known.texts
  }
  const checkout = await open(options, work, source, signal)
  failpoint('git.cloned')
  const { id, createdAt, message, authorName, tag } = checkout.commit
  const commit = { id, created_at: createdAt.toISOString(), message, author_name: authorName, tag }
  const recording = recordCommit(work, release, commit)
  const reading = readTexts(options, release, checkout, signal)
  await everyOne<unknown>([recording, reading])
  return reading
}

async function recordCommit(work: Work, release: ReleaseRow, commit: CommitJson): Promise<void> {
  await work.context.fenced(async (sql) => {
    await setTargetCommit(sql, work.target, commit)
    await setReleaseCommit(sql, release.id, commit)
  })
  const { id, author_name, message } = commit
  work.report.line(`Commit ${id.slice(0, 12)} by ${author_name}: ${message.split('\n')[0] ?? ''}`)
}

/** Reads the files of the commit that decide the build. Throws BuildError if one is missing. */
async function readTexts(
  options: Recipe,
  release: ReleaseRow,
  checkout: Checkout,
  signal: AbortSignal,
): Promise<SourceTexts> {
  const { dockerfileRaw, stack } = existingBuild(release)
  // An ignore file is for applications of the repository.
  if (stack) return { dockerfileText: await stackDockerfileOf(options, stack, checkout, signal) }
  const ignored = await readIgnoreFileOf(checkout, release, signal)
  if (dockerfileRaw !== null) return { dockerfileText: dockerfileRaw, ...ignored }
  const rootPath = contextPath(release)
  const path = [rootPath, existingBuild(release).dockerfilePath].filter((part) => part !== '').join('/')
  const dockerfile = await checkout.readFile(path, signal)
  if (!dockerfile)
    throw missingDockerfile({ ...plainRecipe(options, release, { dockerfileText: '' }), commit: checkout.commit.id })
  return { dockerfileText: dockerfile.toString(), ...ignored }
}

async function open(options: Recipe, work: Work, source: Source, signal: AbortSignal): Promise<Checkout> {
  source.fetched.checkout ??= await options.git.checkout(source.repository, source.release.commit?.id ?? '', {
    signal,
    output: work.report,
  })
  return source.fetched.checkout
}

async function build(
  options: Recipe,
  work: Work,
  source: Source,
  recipe: BuildRecipe,
  signal: AbortSignal,
): Promise<ReleaseImage> {
  const { builder } = options
  const { release } = source
  const image = await whileUnreachable(options, signal, work.report, async (): Promise<ReleaseImage> => {
    // The server may have stopped, or an attempt may have failed, since the last search.
    const found = source.isSearched ? null : await builtBefore(options, work, release, { recipe, signal })
    source.isSearched = false
    if (found) return found
    const full = await options.diskRefusal?.(work.organizationId)
    if (full !== undefined) throw new BuildError('limits', full)
    const archive = async () => (await open(options, work, source, signal)).archive(recipe.rootPath, signal)
    const image = await builder.build(archive, recipe, { signal, output: work.report })
    return withIdentity(image, identityOf(release, recipe))
  })
  failpoint('build.done')
  return image
}

async function existingRelease({ database }: Recipe, id: string): Promise<ReleaseRow> {
  const release = await findRelease(database, id)
  if (!release) throw new Error(`release ${id} is gone`)
  return release
}

async function existingService({ database }: Recipe, { target }: Work): Promise<ServiceRow> {
  const service = await findService(database, target.service_id)
  if (!service) throw new Error(`service ${target.service_id} is gone`)
  return service
}

const releaseRepository = (options: Recipe, work: Work, release: ReleaseRow): Promise<OwnedRepository> =>
  repositoryOf(options.database, options.readCredential, work.organizationId, existingBuild(release).repository)
