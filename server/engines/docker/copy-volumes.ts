import type { Attempt } from '../../lib/attempt.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { EngineError, type VolumeCopy, type VolumeOwner } from '../engine.ts'
import { createContainer, removeContainer } from './containers.ts'
import { copyHelper, emptyImage, ensureEmptyImage, isOurVolume, listHelpers } from './copy-helper.ts'
import { meterOf } from './copy-meter.ts'
import type { DockerDaemon } from './daemon.ts'
import { volumeName } from './labels.ts'
import { pauseUsers, resumeAll, usersOf } from './pause.ts'
import { everyOne, type Host } from './start.ts'
import { createVolume, removeVolume } from './volumes.ts'

/** How often a copy begins anew because something else began or ended to use the volumes. */
const mostTries = 3
/** A large volume takes as long as it takes; whoever waits has limits of his own. */
const longMs = 24 * 3_600_000

/** Engine.copyVolumes for Docker. */
export async function copyVolumes(
  host: Host,
  copies: readonly VolumeCopy[],
  owner: VolumeOwner,
  attempt: Attempt,
): Promise<number> {
  const { daemon, instance } = host
  const { signal } = attempt
  const ofUs = await daemon.patiently(signal, () =>
    everyOne(copies.map(async (copy) => ((await isOurVolume(host, copy.from, signal)) ? [copy] : []))),
  )
  const there = ofUs.flat()
  if (there.length === 0) return 0
  await daemon.patiently(signal, () => ensureEmptyImage(daemon, signal))
  const volumes = there.map(({ from }) => volumeName({ id: from }))
  try {
    for (let tries = 1; tries <= mostTries; tries++) {
      const users = await daemon.patiently(signal, () => pauseUsers(host, volumes, signal))
      failpoint('copy.paused')
      let bytes = 0
      for (const copy of there) bytes += await copyOne(host, copy, owner, attempt)
      failpoint('copy.copied')
      const now = await daemon.patiently(signal, () => usersOf({ daemon, instance }, volumes, signal))
      if (now.length === users.length && now.every(({ id, state }) => state === 'paused' && users.includes(id)))
        return bytes
      attempt.output.line('The service was deployed or stopped meanwhile; its volumes are copied anew.', 'warning')
    }
  } finally {
    // Also when the signal is aborted: what stands still must go on.
    await resumeAll(host, volumes, AbortSignal.timeout(60_000))
  }
  throw new EngineError('refused', 'the volumes are in use by something that starts and ends; try again when it rests')
}

async function copyOne(host: Host, copy: VolumeCopy, owner: VolumeOwner, { signal, output }: Attempt): Promise<number> {
  const { daemon, instance } = host
  const [from, to] = [volumeName({ id: copy.from }), volumeName({ id: copy.to })]
  await removeHelpers(host, to, signal)
  // What an earlier try has written is half.
  await removeVolume(daemon, to, signal)
  await createVolume(daemon, instance, { ...owner, id: copy.to }, signal)
  try {
    const spec = { instance, image: emptyImage, of: to }
    const [source, target] = await everyOne(
      [
        copyHelper({ ...spec, volume: from, readOnly: true }, 'from'),
        copyHelper({ ...spec, volume: to, readOnly: false }, 'to'),
      ].map(({ name, spec: body }) => createContainer(daemon, { name, spec: body, output }, signal)),
    )
    if (!source || !target) throw new Error('a container was not made')
    const bytes = await stream(daemon, source, target, { signal, output })
    output.line(`Copied a volume of ${Math.ceil(bytes / 1_048_576)} MiB.`)
    return bytes
  } finally {
    await removeHelpers(host, to, AbortSignal.timeout(60_000))
  }
}

/** From one container that mounts a volume into another one, piece by piece: neither of them ever runs. */
async function stream(
  daemon: DockerDaemon,
  source: string,
  target: string,
  { signal, output }: Attempt,
): Promise<number> {
  const archive = await daemon.stream({
    method: 'GET',
    path: `/containers/${source}/archive`,
    query: { path: copyHelper.path },
    signal,
    timeoutMs: 60_000,
  })
  const meter = meterOf((bytes) => output.line(`Copied ${Math.floor(bytes / 1_048_576)} MiB so far.`))
  archive.once('error', (error) => meter.stream.destroy(error))
  archive.pipe(meter.stream)
  try {
    await daemon.send({
      method: 'PUT',
      path: `/containers/${target}/archive`,
      query: { path: '/' },
      file: meter.stream,
      signal,
      timeoutMs: longMs,
    })
  } finally {
    archive.destroy()
  }
  if (!meter.isWhole()) throw new EngineError('unreachable', 'Docker broke off while it gave the content of a volume')
  return meter.bytes()
}

async function removeHelpers(host: Host, of: string, signal: AbortSignal): Promise<void> {
  const found = await listHelpers(host, of, signal)
  await everyOne(found.map((id) => removeContainer(host.daemon, id, signal)))
}
