import type { Attempt } from '../../lib/attempt.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { aboveFloor, type DiskFloor, sizeText } from '../../lib/disk-floor.ts'
import { messageOf } from '../../lib/error.ts'
import { everyOne } from '../../lib/every-one.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { type CopyLimits, EngineError, type VolumeCopy } from '../engine.ts'
import { stoodTooLong } from '../volume.ts'
import { listContainers } from './containers.ts'
import { archiveOf, ensureEmptyImage, isOurVolume, makeReader } from './copy-helper.ts'
import { intoVolume, unpack } from './fill-volume.ts'
import { label, volumeName } from './labels.ts'
import { outputOf } from './output-of.ts'
import { type HeldVolumes, pauseUsers, resumeAll, usersOf } from './pause.ts'
import type { Host } from './start.ts'

/** How often a copy restarts because something else started or stopped using the volumes. */
const mostTries = 3
/** What reads or prints a volume breaks off. */
const broken = 'unreachable'

interface CopyHost extends Host {
  readonly held: HeldVolumes
  /** The directory of the engine's volumes, and the free space that must remain there. */
  readonly floor: (signal: AbortSignal) => Promise<DiskFloor>
}

/** The values that the parts of one copy share. */
interface Copying {
  readonly host: CopyHost
  readonly attempt: Attempt
  /** Called with the number of further bytes copied of a volume. */
  readonly count: (bytes: number) => void
}

/**
 * Engine.copyVolumes for Docker. One volume may be read by a program while its service continues,
 * as of the moment when the program ends. The users of all other volumes are paused at that moment,
 * so all copies are of the same moment.
 */
export async function copyVolumes(
  host: CopyHost,
  copies: readonly VolumeCopy[],
  limits: CopyLimits,
  attempt: Attempt,
): Promise<number> {
  const { daemon } = host
  const { signal } = attempt
  const ofUs = await daemon.patiently(signal, () =>
    everyOne(copies.map(async (copy) => ((await isOurVolume(host, copy.from, signal)) ? [copy] : []))),
  )
  const there = ofUs.flat()
  if (there.length === 0) return 0
  await daemon.patiently(signal, () => ensureEmptyImage(daemon, signal))
  const { directory, ...floor } = await daemon.patiently(signal, () => host.floor(signal))
  return aboveFloor({ ...floor, directories: [directory], error: floorError }, signal, (bounded) =>
    copyThose(host, there, limits, { ...attempt, signal: bounded }),
  )
}

/** A sparse file of a few bytes can have any length, and its copy takes that length on disk. */
export const floorError = (floor: number): EngineError =>
  new EngineError(
    'disk-full',
    `The volume was not filled: less than ${sizeText(floor)} of the engine's disk is free. That much is reserved ` +
      'for running services (QUAYSIDE_DISK_FLOOR). Sparse files take their full length in a copy. Free ' +
      'space there or delete data, and try again.',
  )

async function copyThose(
  host: CopyHost,
  there: readonly VolumeCopy[],
  limits: CopyLimits,
  attempt: Attempt,
): Promise<number> {
  let told = 0
  const count = (bytes: number): void => {
    told += bytes
    limits.tell?.(told)
  }
  const given = there.find(({ archive }) => archive !== undefined)
  const plain = there.filter((copy) => copy !== given)
  const copying = { host, attempt, count }
  const bytes = given && plain.length === 0 ? await takeArchive(copying, given) : undefined
  return bytes ?? copyStanding(copying, given && plain.length === 0 ? { plain: [given] } : { plain, given }, limits)
}

/**
 * Returns the output of a replica's program; undefined if none runs or it fails: the volume itself
 * is copied then.
 */
async function takeArchive({ host, attempt, count }: Copying, copy: VolumeCopy): Promise<number | undefined> {
  const { signal, output } = attempt
  const { service = '', command = [] } = copy.archive ?? {}
  const [program = ''] = command
  try {
    const running = await listContainers(
      host.daemon,
      { instance: host.instance, labels: { [label.service]: service } },
      signal,
    )
    const replica = running.find(({ State }) => State === 'running')
    if (!replica) return undefined
    const give = (ended: AbortSignal) => outputOf(host.daemon, { container: replica.Id, command }, ended)
    const bytes = await intoVolume(host, copy, attempt, (target) =>
      unpack(host.daemon, target, give, { signal, count, broken, sizeGiB: copy.sizeGiB }),
    )
    output.line(`${program} copied the volume's data while its service continued.`)
    return bytes
  } catch (error) {
    signal.throwIfAborted()
    output.line(
      `${program} could not copy the volume: ${messageOf(error)}. It is copied while its service is paused.`,
      'warning',
    )
    return undefined
  }
}

interface Parts {
  readonly plain: readonly VolumeCopy[]
  readonly given?: VolumeCopy | undefined
}

/** Copies volumes while everything that uses the plain ones is paused, at most for the limit. */
async function copyStanding(copying: Copying, parts: Parts, { mostStandingSeconds }: CopyLimits): Promise<number> {
  const { host, attempt } = copying
  const deadline = startDeadline(mostStandingSeconds * 1000, attempt.signal)
  const volumes = [...parts.plain, ...(parts.given ? [parts.given] : [])].map(({ from }) => volumeName({ id: from }))
  const release = host.held.hold(volumes)
  try {
    return await copyTogether({ ...copying, attempt: { ...attempt, signal: deadline.signal } }, parts)
  } catch (error) {
    if (!deadline.isOver || attempt.signal.aborted) throw error
    throw stoodTooLong(mostStandingSeconds, error)
  } finally {
    release()
    // Also when the signal is aborted: paused replicas must continue.
    await resumeAll(host, volumes, AbortSignal.timeout(60_000))
  }
}

/** Restarts the copy if something was deployed or stopped meanwhile. */
async function copyTogether(copying: Copying, { plain, given }: Parts): Promise<number> {
  const { host, attempt } = copying
  const { signal } = attempt
  const still = [...plain]
  for (let tries = 1; tries <= mostTries; tries++) {
    const names = (): string[] => still.map(({ from }) => volumeName({ id: from }))
    const pause = () => host.daemon.patiently(signal, () => pauseUsers(host, names(), signal))
    let users = await pause()
    failpoint('copy.paused')
    const goesOn = given && !still.includes(given)
    const [archived, ...copied] = await everyOne([
      goesOn ? takeArchive(copying, given) : Promise.resolve(0),
      copyEach(copying, still),
    ])
    if (given && archived === undefined) {
      // The others have been paused all the time, so their content is of this moment, too.
      still.push(given)
      users = await pause()
      copied.push(await copyOne(copying, given))
    }
    failpoint('copy.copied')
    const now = await host.daemon.patiently(signal, () => usersOf(host, names(), signal))
    const isSame = now.every(({ id, state }) => state === 'paused' && users.includes(id))
    if (isSame && now.length === users.length)
      return [archived, ...copied].reduce<number>((sum, one) => sum + (one ?? 0), 0)
    attempt.output.line('Something was deployed or stopped meanwhile; the volumes are copied again.', 'warning')
  }
  throw new EngineError(
    'refused',
    'a service that uses the volumes keeps starting and stopping; try again when it has settled',
  )
}

async function copyEach(copying: Copying, copies: readonly VolumeCopy[]): Promise<number> {
  let bytes = 0
  for (const copy of copies) bytes += await copyOne(copying, copy)
  return bytes
}

const copyOne = ({ host, attempt, count }: Copying, copy: VolumeCopy): Promise<number> =>
  intoVolume(host, copy, attempt, async (target) => {
    const { daemon } = host
    const source = await makeReader(host, { id: copy.from, of: volumeName({ id: copy.to }), end: 'from' }, attempt)
    const give = (ended: AbortSignal) => archiveOf(daemon, source, ended)
    // The volume's own directory is in its archive, with owner and mode.
    const metering = { signal: attempt.signal, count, broken, sizeGiB: copy.sizeGiB } as const
    return unpack(daemon, { ...target, path: '/' }, give, metering)
  })
