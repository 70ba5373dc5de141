import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { type Metering, metered } from '../archive-meter.ts'
import { EngineError, type VolumeOwner } from '../engine.ts'
import { createContainer } from './containers.ts'
import { copyHelper, emptyImage, isOurVolume, removeHelpers } from './copy-helper.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { volumeName } from './labels.ts'
import type { Host } from './start.ts'
import { createVolume, removeVolume } from './volumes.ts'

/** A large volume may take any time; callers have limits of their own. */
const longMs = 24 * 3_600_000
/** The number of bytes read ahead of the unpacking: users of the volume may be paused meanwhile. */
const aheadBytes = 1_048_576
const cleanUp = (): AbortSignal => AbortSignal.timeout(60_000)

/**
 * Recreates the volume, and creates a container that mounts it and never runs. If filling fails,
 * nothing of the volume is left.
 */
export async function intoVolume(
  host: Host,
  { to, owner }: { readonly to: string; readonly owner: VolumeOwner },
  { signal, output }: Attempt,
  fill: (target: Target) => Promise<number>,
): Promise<number> {
  const { daemon, instance } = host
  const name = volumeName({ id: to })
  // An earlier try left it incomplete.
  if (await isOurVolume(host, to, signal)) await removeVolume(host, name, signal)
  await createVolume(daemon, instance, { ...owner, id: to }, signal)
  // If a volume of that name exists, Docker returns it, even if it has another owner.
  if (!(await isOurVolume(host, to, signal)))
    throw new EngineError('refused', `the volume ${name} belongs to another installation; remove it there`)
  try {
    const { name: helper, spec } = copyHelper({ instance, image: emptyImage, of: name, volume: name }, 'to')
    const container = await createContainer(daemon, { name: helper, spec, output }, signal)
    const bytes = await fill({ container, path: copyHelper.path })
    output.line(`Filled a volume with ${Math.ceil(bytes / 1_048_576)} MiB.`)
    return bytes
  } catch (error) {
    await removeVolume(host, name, cleanUp()).catch((problem: unknown) =>
      output.line(`A partly filled volume could not be removed: ${messageOf(problem)}`, 'warning'),
    )
    throw error
  } finally {
    await removeHelpers(host, name, cleanUp())
  }
}

export interface Target {
  readonly container: string
  readonly path: string
}

/**
 * Unpacks an archive in a container as it arrives, and returns its size in bytes. Errors thrown by
 * the archive pass through. The signal that `give` gets is aborted when no more data is accepted.
 */
export async function unpack(
  daemon: DockerDaemon,
  { container, path }: Target,
  give: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { signal, ...metering }: Metering & { readonly signal: AbortSignal },
): Promise<number> {
  const ended = new AbortController()
  let bytes = 0
  const count = (more: number): void => {
    bytes += more
    metering.count(more)
  }
  const archive = giving(metered(give(AbortSignal.any([signal, ended.signal])), { ...metering, count }))
  const file = Readable.from(archive.pieces(), { objectMode: false, highWaterMark: aheadBytes })
  // The unpacking side sees the error too, but not before it is recorded here.
  file.on('error', () => {})
  try {
    const query = { path }
    await daemon.send({
      ...{ method: 'PUT', path: `/containers/${container}/archive`, query, file, signal },
      timeoutMs: longMs,
    })
    // The data after the last entry must be valid too, even if the daemon does not read it.
    await finished(file.resume(), { signal })
    return bytes
  } catch (error) {
    throw translated(archive.failure()?.reason ?? error)
  } finally {
    ended.abort(nobodyWaits)
    file.destroy()
  }
}

/** Records an error thrown by the archive, since its consumer may report it in other words. */
function giving(archive: AsyncIterable<Uint8Array>) {
  let failure: { readonly reason: unknown } | undefined
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* archive
    } catch (reason) {
      failure = { reason }
      throw reason
    }
  }
  return { pieces, failure: () => failure }
}

function translated(error: unknown): unknown {
  if (!isRefusal(error, 400, 403, 404, 409, 500)) return error
  const { message } = error
  if (/no space left on device/i.test(message))
    return new EngineError(
      'disk-full',
      `The disk of the engine is full: a volume cannot be filled (${message}). Free space there, and try again.`,
    )
  return new EngineError('refused', `Docker could not unpack the archive of a volume: ${message}`, { cause: error })
}
