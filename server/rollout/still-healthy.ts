import { type Endpoint, EngineError } from '../engines/index.ts'
import { engineRelease, findRelease } from '../releases/index.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** So long after it was seen healthy a version gets traffic without being asked again. */
const freshMs = 2000

/**
 * Where a version answers that was healthy at `seenAt` (milliseconds of the wall clock). A server
 * that was killed or stood still between that and the change of traffic asks it again first. Throws
 * EngineError where it is not healthy any more; then traffic stays where it is.
 */
export async function stillHealthy(
  options: Recipe,
  work: Work,
  seen: { readonly release: string; readonly endpoints: readonly Endpoint[]; readonly seenAt: number },
  deadlineSeconds: number,
): Promise<readonly Endpoint[]> {
  if (Math.abs(options.clock.now().getTime() - seen.seenAt) < freshMs) return seen.endpoints
  const { report, step, target } = work
  return explainLate(
    step(
      `${target.service_id}/STILL_HEALTHY`,
      async ({ signal }) => {
        const row = await findRelease(options.database, seen.release)
        if (!row) throw new Error(`release ${seen.release} is gone`)
        const { release } = await engineRelease(options, work.organizationId, row)
        report.line('It was healthy some time ago, and is asked once more before it gets traffic.')
        const attempt = { signal, output: report }
        const endpoints = await whileUnreachable(options, signal, report, () => options.engine.start(release, attempt))
        return endpoints.map(({ replica, port, address }) => ({ replica, port, address }))
      },
      { deadlineSeconds: deadlineSeconds + 120 },
    ),
    () =>
      new EngineError('not-ready', `It was not found healthy again after ${deadlineSeconds + 120} s. Deploy again.`),
  )
}
