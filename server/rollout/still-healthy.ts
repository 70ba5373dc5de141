import { type Endpoint, EngineError } from '../engines/index.ts'
import { engineRelease, findRelease } from '../releases/index.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'

/**
 * How long a health check counts: within this time a version gets traffic without another check.
 */
const freshMs = 2000

/**
 * Returns the endpoints of a version that was healthy at `seenAt` (milliseconds of the wall clock).
 * If the server was killed or paused before traffic moved, the version is checked again first.
 * Throws EngineError if it is no longer healthy; traffic does not move then.
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
        report.line('Its last health check is too old; it is checked again before it gets traffic.')
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
