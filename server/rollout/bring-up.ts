import type { Endpoint } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Json } from '../lib/json.ts'
import { engineRelease, isRecreated, ownsItsFiles, type ReleaseRow, volumesOf } from '../releases/index.ts'
import { checkData, markData, takePublicPort } from './database-place.ts'
import { tellIdleSettings } from './idle-settings.ts'
import { haveImage } from './image-release.ts'
import { keepRunning } from './keep-running.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** The release to start. */
interface Given {
  readonly frozen: ReleaseRow
  /** Seconds. */
  readonly deadline: number
  readonly whenBegun: () => void
}

/**
 * Starts a frozen release and waits until every replica is healthy, unless the running release is
 * the same. A database gets its public port first. Releases that must not run at the same time are
 * ended before. Throws EngineError.
 */
export async function bringUp(
  options: Recipe,
  work: Work,
  { frozen, deadline, whenBegun }: Given,
  signal: AbortSignal,
): Promise<HealthyRelease> {
  await checkData(options, frozen)
  const row = await takePublicPort(options, work, frozen)
  tellIdleSettings(options.engine, work, row)
  const { release, secrets, serving } = await engineRelease(options, work.organizationId, row)
  work.report.hide(secrets)
  const kept = await keepRunning(options, work, { row, next: release, serving }, signal)
  if (kept) return toHealthy(options, kept.release, kept.endpoints)
  work.report.line(
    `Starting ${release.workload.replicas.min} replica(s); waiting up to ${deadline} s until they are ready.`,
  )
  const attempt = { signal, output: work.report }
  await whileUnreachable(options, signal, work.report, () => haveImage(options, work.organizationId, row, attempt))
  await markData(work, row)
  const alone = whyAlone(row)
  if (alone !== undefined) {
    if (serving !== null) work.report.line(gapText(alone))
    await makeRoom(options, work, row, attempt)
  } else if (serving !== null && volumesOf(row, row.service_id).size > 0) {
    work.report.line(sharedText, 'warning')
  }
  const endpoints = await startCollected(options, work, { release, secrets, serving, whenBegun }, signal)
  work.report.line('Every replica is ready.')
  for (const { hostAddress, hostPort } of release.workload.publishedPorts ?? []) {
    work.report.line(`It answers on port ${hostPort} of this machine (${hostAddress}).`)
  }
  return toHealthy(options, row.id, endpoints)
}

type Collected = Pick<Awaited<ReturnType<typeof engineRelease>>, 'release' | 'secrets' | 'serving'> &
  Pick<Given, 'whenBegun'>

/** Starts the release and collects its lines from the beginning. */
async function startCollected(
  options: Recipe,
  { report }: Work,
  { release, secrets, serving, whenBegun }: Collected,
  signal: AbortSignal,
): Promise<Endpoint[]> {
  const collect = (): void => options.collect(release.service, release.id, secrets)
  // A collector that already runs must mask the new secrets before the first new line. Otherwise
  // there are no lines yet, and the engine has more urgent work.
  if (serving !== null) collect()
  const starting = {
    signal,
    output: report,
    whenBegun: () => {
      collect()
      whenBegun()
    },
  }
  return whileUnreachable(options, signal, report, () => options.engine.start(release, starting)).finally(() => {
    // A process that was killed may have begun the start.
    if (!signal.aborted) collect()
  })
}

/** The release that gets the traffic, with its endpoints. */
export interface HealthyRelease {
  readonly release: string
  readonly endpoints: readonly { readonly replica: string; readonly port: number; readonly address: string }[]
  /** Time of the last health check: milliseconds of the wall clock. */
  readonly seenAt: number
  readonly [key: string]: Json
}

const toHealthy = ({ clock }: Recipe, release: string, endpoints: readonly Endpoint[]): HealthyRelease => ({
  release,
  seenAt: clock.now().getTime(),
  endpoints: endpoints.map(({ replica, port, address }) => ({ replica, port, address })),
})

const gapText = (why: string): string =>
  `The previous version is stopped first. Nothing answers until this one is ready: ${why}.`

const sharedText =
  'Both versions use its storage until the previous one has ended. If its program cannot handle that, set its ' +
  'advanced setting deployment.update_strategy.type to Recreate: the previous version then ends first.'

/** Returns why no other version may run at the same time, or undefined. */
function whyAlone(row: ReleaseRow): string | undefined {
  if (ownsItsFiles(row)) return 'two versions must not use its files at the same time'
  return isRecreated(row.kind, row.advanced_settings)
    ? 'its advanced setting deployment.update_strategy.type is Recreate'
    : undefined
}

/** Ends the replicas of other versions. */
async function makeRoom(options: Recipe, { report }: Work, row: ReleaseRow, attempt: Attempt): Promise<void> {
  await whileUnreachable(options, attempt.signal, report, () => options.engine.retire(row.service_id, row.id, attempt))
}
