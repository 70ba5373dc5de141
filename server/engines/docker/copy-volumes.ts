import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { EngineError, type VolumeCopy, type VolumeOwner } from '../engine.ts'
import { createContainer, listContainers } from './containers.ts'
import { copyHelper, emptyImage, ensureEmptyImage, isOurVolume } from './copy-helper.ts'
import { intoVolume, throughMeter } from './fill-volume.ts'
import { label, volumeName } from './labels.ts'
import { pauseUsers, resumeAll, usersOf } from './pause.ts'
import { pipeOutput } from './pipe-output.ts'
import { everyOne, type Host } from './start.ts'

/** How often a copy begins anew because something else began or ended to use the volumes. */
const mostTries = 3

/** Engine.copyVolumes for Docker. */
export async function copyVolumes(
  host: Host,
  copies: readonly VolumeCopy[],
  owner: VolumeOwner,
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
  let bytes = 0
  const plain: VolumeCopy[] = []
  for (const copy of there) {
    const given = copy.archive && (await takeArchive(host, { ...copy, archive: copy.archive }, owner, attempt))
    if (given === undefined) plain.push(copy)
    else bytes += given
  }
  return plain.length === 0 ? bytes : bytes + (await copyStanding(host, plain, owner, attempt))
}

/** What a program of a replica gives; undefined where none runs, or it fails: then the volume itself is copied. */
async function takeArchive(
  host: Host,
  copy: VolumeCopy & { readonly archive: NonNullable<VolumeCopy['archive']> },
  owner: VolumeOwner,
  attempt: Attempt,
): Promise<number | undefined> {
  const { signal, output } = attempt
  const [program = ''] = copy.archive.command
  try {
    const running = await listContainers(
      host.daemon,
      { instance: host.instance, labels: { [label.service]: copy.archive.service } },
      signal,
    )
    const replica = running.find(({ State }) => State === 'running')
    if (!replica) return undefined
    const bytes = await intoVolume(host, copy, owner, attempt, (target) =>
      throughMeter(host.daemon, target, attempt, (meter) =>
        pipeOutput(host.daemon, { container: replica.Id, command: copy.archive.command }, meter, signal),
      ),
    )
    output.line(`${program} gave what the volume holds; nothing stood still.`)
    return bytes
  } catch (error) {
    signal.throwIfAborted()
    output.line(
      `${program} did not give the volume: ${messageOf(error)}. It is copied while its users stand still.`,
      'warning',
    )
    return undefined
  }
}

/** Copies volumes while everything that uses them stands still. */
async function copyStanding(
  host: Host,
  copies: readonly VolumeCopy[],
  owner: VolumeOwner,
  attempt: Attempt,
): Promise<number> {
  const { daemon, instance } = host
  const { signal } = attempt
  const volumes = copies.map(({ from }) => volumeName({ id: from }))
  try {
    for (let tries = 1; tries <= mostTries; tries++) {
      const users = await daemon.patiently(signal, () => pauseUsers(host, volumes, signal))
      failpoint('copy.paused')
      let bytes = 0
      for (const copy of copies) bytes += await copyOne(host, copy, owner, attempt)
      failpoint('copy.copied')
      const now = await daemon.patiently(signal, () => usersOf({ daemon, instance }, volumes, signal))
      const isSame = now.every(({ id, state }) => state === 'paused' && users.includes(id))
      if (isSame && now.length === users.length) return bytes
      attempt.output.line('The service was deployed or stopped meanwhile; its volumes are copied anew.', 'warning')
    }
  } finally {
    // Also when the signal is aborted: what stands still must go on.
    await resumeAll(host, volumes, AbortSignal.timeout(60_000))
  }
  throw new EngineError('refused', 'the volumes are in use by something that starts and ends; try again when it rests')
}

const copyOne = (host: Host, copy: VolumeCopy, owner: VolumeOwner, attempt: Attempt): Promise<number> =>
  intoVolume(host, copy, owner, attempt, async (target) => {
    const { daemon, instance } = host
    const { signal, output } = attempt
    const helper = {
      instance,
      image: emptyImage,
      of: volumeName({ id: copy.to }),
      volume: volumeName({ id: copy.from }),
      readOnly: true,
    }
    const { name, spec } = copyHelper(helper, 'from')
    const source = await createContainer(daemon, { name, spec, output }, signal)
    // The directory of the volume itself is in its archive, with owner and mode.
    return throughMeter(daemon, { ...target, path: '/' }, attempt, async (meter) => {
      const query = { path: copyHelper.path }
      const path = `/containers/${source}/archive`
      const archive = await daemon.stream({ method: 'GET', path, query, signal, timeoutMs: 60_000 })
      archive.once('error', (error) => meter.destroy(error))
      archive.pipe(meter)
      return { finish: async () => {}, close: () => archive.destroy() }
    })
  })
