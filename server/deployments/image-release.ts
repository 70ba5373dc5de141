import { EngineError } from '../engines/index.ts'
import { findService } from '../services/index.ts'
import { freeze } from './freeze.ts'
import { explainLate, type RecipeOptions, type Work, whileUnreachable } from './recipe.ts'
import { findReleaseOf, setReleaseImage } from './release-store.ts'
import { enterState } from './target-store.ts'
import { imageOf } from './versioned.ts'

/** Fetching an image shall not hold a deployment for longer. */
const fetchSeconds = 1200

/** From the request to a release whose image the engine has: freeze settings and variables, fetch the image. Gives the release's id. */
export async function fetchRelease(options: RecipeOptions, work: Work): Promise<string> {
  const { target, step, context, report } = work
  const id = target.service_id
  report.enter('Build')
  const frozen = await step(`${id}/FREEZE`, () => freezeOnce(options, work))
  await explainLate(
    step(
      `${id}/MIRROR_IMAGE`,
      async ({ signal }) => {
        await context.fenced((sql) => enterState(sql, target, 'DEPLOYING'))
        report.line(`Fetching the image ${frozen.image}.`)
        const attempt = { signal, output: report }
        const login = frozen.registryId ? await readLogin(options, work, frozen.registryId) : undefined
        await whileUnreachable(options, signal, report, () => options.engine.fetchImage(frozen.image, login, attempt))
      },
      { deadlineSeconds: fetchSeconds },
    ),
    () =>
      new EngineError(
        'image-missing',
        `The image ${frozen.image} was not fetched within ${fetchSeconds} s. Check whether its registry can be reached, and deploy again.`,
      ),
  )
  await context.fenced((sql) => setReleaseImage(sql, frozen.release, { reference: frozen.image, digest: '' }))
  report.enter('Built')
  return frozen.release
}

const readLogin = async ({ database, registryLogin }: RecipeOptions, work: Work, registryId: string) =>
  registryLogin?.(database, work.organizationId, registryId)

/** Freezes once: a second try finds the release of the first. */
function freezeOnce({ vault, clock }: RecipeOptions, { request, target, context }: Work) {
  return context.fenced(async (sql) => {
    const service = await findService(sql, target.service_id)
    const former = await findReleaseOf(sql, target.service_id, request.id)
    const image = service && imageOf(former ?? service, service.origin)
    if (!service || !image) throw new Error(`service ${target.service_id} is gone, or has no image`)
    const release = former ?? (await freeze(sql, vault, service, { id: request.id, commit: null, now: clock.now() }))
    return { release: release.id, image, registryId: service.origin?.id ?? null }
  })
}
