import type { Sql } from '../database/index.ts'
import { noteFetched, noteOwner } from '../disk/index.ts'
import { EngineError, type PinnedImage } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { AppError } from '../lib/error.ts'
import {
  buildOf,
  findRelease,
  findReleaseOf,
  freeze,
  imageOf,
  type ReleaseRow,
  registryHost,
  setReleaseImage,
} from '../releases/index.ts'
import { enterState } from '../requests/index.ts'
import { findService, type Origin } from '../services/index.ts'
import { versionAgain } from './deployed-version.ts'
import { publishImage } from './publish-image.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** The longest time that a deployment waits for an image. */
const fetchSeconds = 1200

/**
 * Makes a release whose image the engine has: freezes settings and variables, resolves the tag
 * once, fetches the image. Returns the release's id. From then on only the digest counts. With
 * `ahead` the service does not have its turn yet: it stays queued, and the work ends when that
 * signal is aborted.
 */
export async function fetchRelease(options: Recipe, work: Work, ahead?: AbortSignal): Promise<string> {
  const { target, step, report } = work
  const id = target.service_id
  const until = (signal: AbortSignal): AbortSignal => (ahead ? AbortSignal.any([signal, ahead]) : signal)
  report.enter('Build')
  const frozen = await step(`${id}/FREEZE`, () => freezeOnce(options, work, ahead !== undefined))
  await explainLate(
    step(`${id}/MIRROR_IMAGE`, ({ signal }) => mirror(options, work, frozen, until(signal)), {
      deadlineSeconds: fetchSeconds,
    }),
    () =>
      new EngineError(
        'image-missing',
        `The image ${frozen.image} was not fetched within ${fetchSeconds} s. Check whether its registry can ` +
          'be reached, and deploy again.',
      ),
  )
  await publishImage(options, work, frozen.release, ahead)
  report.enter('Built')
  return frozen.release
}

/**
 * Fetches the image of a version again if the engine lost it, by its digest, whatever its tag means
 * now.
 */
export async function haveImage(
  options: Pick<Recipe, 'database' | 'clock' | 'registryLogin' | 'images'>,
  organizationId: string,
  release: ReleaseRow,
  attempt: Attempt,
): Promise<void> {
  // A cluster pulls the images that are published for it.
  if (!release.image || release.image.published !== undefined || buildOf(release)) return
  const { reference } = release.image
  if ((await options.images.engine.pinImage(reference, undefined, attempt)).isThere) return
  attempt.output.line(`The engine no longer has the image ${reference}; it is fetched again.`, 'warning')
  const service = await findService(options.database, release.service_id)
  const origin = service?.origin ?? null
  // The service may use another registry now, which must not get the password of this one.
  const isItsOwn = origin !== null && reference.startsWith(`${registryHost(origin.url)}/`)
  const login = await readLogin(options, organizationId, isItsOwn ? origin : null, attempt.signal)
  await noteFetched(options.database, options.images.name, { reference, isThere: false }, options.clock.now())
  await options.images.engine.fetchImage(reference, login, attempt)
}

type Frozen = {
  readonly release: string
  readonly image: string
  readonly registryId: string | null
  /** The deployed image, if the request asks to keep it. */
  readonly again?: string
}

/** Stores the image in the release once the engine has it. */
async function mirror(
  options: Recipe,
  work: Work,
  { release, image, registryId, again }: Frozen,
  signal: AbortSignal,
): Promise<void> {
  const { context, report, organizationId } = work
  const attempt = { signal, output: report }
  const login = await readLogin(options, organizationId, registryId ? { id: registryId } : null, signal)
  const { engine } = options.images
  const wanted = again ?? image
  if (again) report.line('The deployed image is used again, whatever its tag means now.')
  const pinned = await whileUnreachable(options, signal, report, () => engine.pinImage(wanted, login, attempt)).catch(
    (error: unknown) => pinFormer(options, work, image, attempt, error),
  )
  report.line(foundText(image, pinned))
  const { reference, digest } = pinned
  const note = async (sql: Sql): Promise<void> => {
    await noteFetched(sql, options.images.name, pinned, options.clock.now())
    if (login && pinned.namedBy === 'registry') await noteOwner(sql, pinned, organizationId)
  }
  const keep = (sql: Sql) => setReleaseImage(sql, release, { reference, digest })
  if (pinned.isThere) return void (await context.fenced((sql) => Promise.all([note(sql), keep(sql)])))
  const full = await options.diskRefusal?.(organizationId)
  if (full !== undefined) throw new AppError('conflict', full)
  await context.fenced(note)
  await whileUnreachable(options, signal, report, () => engine.fetchImage(reference, login, attempt))
  await context.fenced(keep)
}

/**
 * While the registry is unreachable, the running version supplies the digest for the same name and
 * tag.
 */
async function pinFormer(
  options: Recipe,
  { target, report }: Work,
  image: string,
  attempt: Attempt,
  error: unknown,
): Promise<PinnedImage> {
  if (!(error instanceof EngineError) || error.reason !== 'registry-away') throw error
  const service = await findService(options.database, target.service_id)
  const former = service?.release_id ? await findRelease(options.database, service.release_id) : undefined
  if (!former?.image || imageOf(former, service?.origin ?? null) !== image) throw error
  const pinned = await options.images.engine.pinImage(former.image.reference, undefined, attempt)
  if (!pinned.isThere) throw error
  report.line(`${error.message} The image of the running version is used again.`, 'warning')
  return { ...pinned, namedBy: 'engine' }
}

const foundText = (image: string, { digest, isThere, namedBy }: PinnedImage): string =>
  namedBy === 'engine'
    ? `The image ${image} of this engine is ${digest}.`
    : `The image ${image} is ${digest}${isThere ? '; the engine has it' : '; fetching it'}.`

const readLogin = async (
  { database, registryLogin }: Pick<Recipe, 'database' | 'registryLogin'>,
  organizationId: string,
  origin: Pick<Origin, 'id'> | null,
  signal: AbortSignal,
) => (origin ? registryLogin?.(database, organizationId, origin.id, signal) : undefined)

/** Freezes once: a retry finds the release of the first try. */
async function freezeOnce(options: Recipe, work: Work, isAhead: boolean): Promise<Frozen> {
  const { request, target, context } = work
  const { vault, clock } = options
  const again = (await versionAgain(options, work))?.image.reference
  return context.fenced(async (sql) => {
    const { service_id: id } = target
    const [service, former] = await Promise.all([findService(sql, id), findReleaseOf(sql, id, request.id)])
    const image = service && imageOf(former ?? service, service.origin)
    if (!service || !image) throw new Error(`service ${id} is gone, or has no image`)
    const [release] = await Promise.all([
      former ?? freeze(sql, vault, service, { id: request.id, commit: null, now: clock.now() }),
      former || isAhead ? undefined : enterState(sql, target, 'DEPLOYING'),
    ])
    return { release: release.id, image, registryId: service.origin?.id ?? null, ...(again && { again }) }
  })
}
