import type { Endpoint } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Json } from '../lib/json.ts'
import { engineRelease, isRecreated, ownsItsFiles, type ReleaseRow, volumesOf } from '../releases/index.ts'
import { checkData, markData, takePublicPort } from './database-place.ts'
import { tellIdleSettings } from './idle-settings.ts'
import { haveImage } from './image-release.ts'
import { keepRunning } from './keep-running.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** What is to be brought up. */
interface Given {
  readonly frozen: ReleaseRow
  /** Seconds. */
  readonly deadline: number
  readonly whenBegun: () => void
}

/**
 * Has the engine start a frozen release and wait until every replica is healthy, unless what runs
 * is the same. Databases get their port of the machine first, and what must not run at the same
 * time is ended before. Throws EngineError.
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

/** Starts it, with its lines collected from its begin on. */
async function startCollected(
  options: Recipe,
  { report }: Work,
  { release, secrets, serving, whenBegun }: Collected,
  signal: AbortSignal,
): Promise<Endpoint[]> {
  const collect = (): void => options.collect(release.service, release.id, secrets)
  // Lines that are collected already have to be masked anew before the first one comes. Else there
  // are none yet, and the engine has more urgent things to answer.
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
    // It may have been begun by a process that was killed.
    if (!signal.aborted) collect()
  })
}

/** The release that is to have the traffic, and where it answers. */
export interface HealthyRelease {
  readonly release: string
  readonly endpoints: readonly { readonly replica: string; readonly port: number; readonly address: string }[]
  /** When it was seen healthy: milliseconds of the wall clock. */
  readonly seenAt: number
  readonly [key: string]: Json
}

const toHealthy = ({ clock }: Recipe, release: string, endpoints: readonly Endpoint[]): HealthyRelease => ({
  release,
  seenAt: clock.now().getTime(),
  endpoints: endpoints.map(({ replica, port, address }) => ({ replica, port, address })),
})

const gapText = (why: string): string =>
  `What runs of the former version is ended first, and nothing answers until this one is ready: ${why}.`

const sharedText =
  'Both versions use its storage until the former one has ended. Where its program cannot bear that, set its ' +
  'advanced setting deployment.update_strategy.type to Recreate: the former version ends first then.'

/** Why no other version may run at the same time; undefined where it may. */
function whyAlone(row: ReleaseRow): string | undefined {
  if (ownsItsFiles(row)) return 'two versions must not have its files at the same time'
  return isRecreated(row.kind, row.advanced_settings)
    ? 'its advanced setting deployment.update_strategy.type is Recreate'
    : undefined
}

/** Ends what runs of other versions. */
async function makeRoom(options: Recipe, { report }: Work, row: ReleaseRow, attempt: Attempt): Promise<void> {
  await whileUnreachable(options, attempt.signal, report, () => options.engine.retire(row.service_id, row.id, attempt))
}
