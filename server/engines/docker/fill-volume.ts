import type { Writable } from 'node:stream'
import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type VolumeCopy } from '../engine.ts'
import { createContainer, removeContainer } from './containers.ts'
import { copyHelper, emptyImage, listHelpers } from './copy-helper.ts'
import { meterOf } from './copy-meter.ts'
import type { DockerDaemon } from './daemon.ts'
import { volumeName } from './labels.ts'
import { everyOne, type Host } from './start.ts'
import { createVolume, removeVolume } from './volumes.ts'

/** A large volume takes as long as it takes; whoever waits has limits of his own. */
const longMs = 24 * 3_600_000

/** Makes the volume anew, and a container that mounts it: neither that one nor another one of ours here ever runs. */
export async function intoVolume(
  host: Host,
  copy: VolumeCopy,
  { signal, output }: Attempt,
  fill: (target: Target) => Promise<number>,
): Promise<number> {
  const { daemon, instance } = host
  const to = volumeName({ id: copy.to })
  await removeHelpers(host, to, signal)
  // What an earlier try has written is half.
  await removeVolume(daemon, to, signal)
  await createVolume(daemon, instance, { ...copy.owner, id: copy.to }, signal)
  try {
    const { name, spec } = copyHelper({ instance, image: emptyImage, of: to, volume: to, readOnly: false }, 'to')
    const container = await createContainer(daemon, { name, spec, output }, signal)
    const bytes = await fill({ container, path: copyHelper.path })
    output.line(`Copied a volume of ${Math.ceil(bytes / 1_048_576)} MiB.`)
    return bytes
  } finally {
    await removeHelpers(host, to, AbortSignal.timeout(60_000))
  }
}

interface Target {
  readonly container: string
  readonly path: string
}

/** An archive that is being given; `finish` throws where its end was not in order. */
interface Giving {
  readonly finish: () => Promise<void>
  readonly close: () => void
}

/** Unpacks an archive in a container, piece by piece as it comes; counts its bytes, and gives them. */
export async function throughMeter(
  daemon: DockerDaemon,
  { container, path }: Target,
  { signal }: Attempt,
  count: (bytes: number) => void,
  give: (meter: Writable) => Promise<Giving>,
): Promise<number> {
  let counted = 0
  const countTo = (bytes: number): void => {
    count(bytes - counted)
    counted = bytes
  }
  const meter = meterOf(countTo)
  // Whoever unpacks hears of it, too; before that, nobody does.
  meter.stream.on('error', () => {})
  const giving = await give(meter.stream)
  try {
    await daemon.send({
      method: 'PUT',
      path: `/containers/${container}/archive`,
      query: { path },
      file: meter.stream,
      signal,
      timeoutMs: longMs,
    })
    await giving.finish()
  } finally {
    giving.close()
  }
  if (!meter.isWhole()) throw new EngineError('unreachable', 'the archive of a volume broke off')
  countTo(meter.bytes())
  return meter.bytes()
}

async function removeHelpers(host: Host, of: string, signal: AbortSignal): Promise<void> {
  const found = await listHelpers(host, of, signal)
  await everyOne(found.map((id) => removeContainer(host.daemon, id, signal)))
}
