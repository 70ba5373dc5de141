import type { Attempt } from '../../lib/attempt.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { messageOf } from '../../lib/error.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { metered } from '../archive-meter.ts'
import { type CopyLimits, EngineError, type VolumeCopy } from '../engine.ts'
import { stoodTooLong } from '../volume.ts'
import { printed } from './archive-streams.ts'
import type { Deployment } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { archiveOf } from './read-volume.ts'
import { runningContainer } from './running-pod.ts'
import { areUnused, bringBack, type HeldDeployments, sendAway } from './stand-still.ts'
import { type Claim, findClaim } from './volume-claims.ts'
import { helperPlace } from './volume-helper.ts'
import { fillVolume } from './write-volume.ts'

/** How often a copy restarts because something else started to use the volumes. */
const mostTries = 3

/** A copy of a volume that exists. */
interface Planned extends VolumeCopy {
  readonly claim: Claim
}

/** The values that the parts of one copy share. */
interface Copying {
  readonly host: KubeHost
  readonly held: HeldDeployments
  readonly attempt: Attempt
  /** Called with the number of further bytes copied. */
  readonly count: (bytes: number) => void
}

/**
 * Engine.copyVolumes for Kubernetes. Pods cannot be paused, so the replicas that use the volumes
 * end before the copy, and start again after it. A single volume whose service has a program that
 * prints it is copied while the service continues. Archives go through this process.
 */
export async function copyVolumes(
  host: KubeHost,
  held: HeldDeployments,
  { copies, limits }: { readonly copies: readonly VolumeCopy[]; readonly limits: CopyLimits },
  attempt: Attempt,
): Promise<number> {
  const found = await Promise.all(
    copies.map(async (copy) => ({ copy, claim: await findClaim(host, copy.from, attempt.signal) })),
  )
  const planned = found.flatMap(({ copy, claim }) => (claim ? [{ ...copy, claim }] : []))
  const [first, ...others] = planned
  if (!first) return 0
  let total = 0
  const count = (bytes: number): void => {
    total += bytes
    limits.tell?.(total)
  }
  const copying: Copying = { host, held, attempt, count }
  if (others.length === 0 && first.archive && (await takeArchive(copying, first))) return total
  total = 0
  await copyStanding(copying, planned, limits)
  return total
}

/** Fills a copy by the program of a running replica. Returns false if none runs, or it fails. */
async function takeArchive({ host, attempt, count }: Copying, copy: Planned): Promise<boolean> {
  const { signal, output } = attempt
  const { service = '', command = [] } = copy.archive ?? {}
  const [program = ''] = command
  try {
    const place = await runningContainer(host, service, {}, signal).catch((error: unknown) => {
      if (error instanceof EngineError && error.reason === 'refused') return undefined
      throw error
    })
    if (!place) return false
    const { sizeGiB } = copy.claim
    const archive = metered(printed(host, place, command, signal), { count, broken: 'unreachable', sizeGiB })
    await fillVolume(host, targetOf(copy), { archive, below: `${helperPlace.above}/${helperPlace.name}` }, attempt)
    output.line(`${program} copied the volume's data while its service continued.`)
    return true
  } catch (error) {
    signal.throwIfAborted()
    const reason = messageOf(error)
    output.line(`${program} could not copy the volume: ${reason}. It is copied while its service is away.`, 'warning')
    return false
  }
}

const targetOf = ({ to, owner, claim }: Planned) => ({ volume: to, owner, sizeGiB: claim.sizeGiB })

/** Copies volumes while the replicas that use them are away, at most for the limit. */
async function copyStanding(
  { attempt, ...rest }: Copying,
  planned: readonly Planned[],
  { mostStandingSeconds }: CopyLimits,
): Promise<void> {
  const deadline = startDeadline(mostStandingSeconds * 1000, attempt.signal)
  const away: Deployment[] = []
  const copying = { ...rest, attempt: { ...attempt, signal: deadline.signal } }
  try {
    await copyTogether(copying, planned, away)
  } catch (error) {
    if (!deadline.isOver || attempt.signal.aborted) throw error
    throw stoodTooLong(mostStandingSeconds, error)
  } finally {
    // Also when the signal is aborted: replicas must come back.
    await bringBack(rest.host, rest.held, away, AbortSignal.timeout(120_000))
  }
}

/** Restarts the copy if something was deployed meanwhile. */
async function copyTogether(copying: Copying, planned: readonly Planned[], away: Deployment[]): Promise<void> {
  const { host, held, attempt } = copying
  const claims = planned.map(({ claim }) => claim)
  for (let tries = 1; tries <= mostTries; tries++) {
    await sendAway(host, held, claims, away, attempt.signal)
    failpoint('copy.paused')
    for (const copy of planned) await copyOne(copying, copy)
    failpoint('copy.copied')
    if (await areUnused(host, claims, attempt.signal)) return
    attempt.output.line('Something was deployed meanwhile; the volumes are copied again.', 'warning')
  }
  throw new EngineError('refused', 'a service that uses the volumes keeps starting; try again when it has settled')
}

async function copyOne({ host, attempt, count }: Copying, copy: Planned): Promise<void> {
  await archiveOf(
    host,
    copy.claim,
    attempt,
    (archive) => fillVolume(host, targetOf(copy), { archive, below: helperPlace.above }, attempt),
    count,
  )
}
