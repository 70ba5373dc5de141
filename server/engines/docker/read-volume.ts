import type { Attempt } from '../../lib/attempt.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { metered } from '../archive-meter.ts'
import { EngineError, type VolumeWriter } from '../engine.ts'
import { archiveOf, ensureEmptyImage, isOurVolume, makeReader, removeHelpers } from './copy-helper.ts'
import { volumeName } from './labels.ts'
import { usersOf } from './pause.ts'
import type { Host } from './start.ts'

/** Engine.readVolume for Docker. */
export async function readVolume(host: Host, id: string, write: VolumeWriter, attempt: Attempt): Promise<number> {
  const { daemon } = host
  const { signal } = attempt
  const name = volumeName({ id })
  const ended = new AbortController()
  let [bytes, isWhole] = [0, false]
  const count = (more: number): void => {
    bytes += more
  }
  const container = await daemon.patiently(signal, async () => {
    if (!(await isOurVolume(host, id, signal)))
      throw new EngineError('refused', `there is no volume ${name} of this installation`)
    await assertUnused(host, name, signal)
    await ensureEmptyImage(daemon, signal)
    await removeHelpers(host, name, signal)
    return makeReader(host, { id, of: name, end: 'read' }, attempt)
  })
  const archive = async function* (): AsyncGenerator<Uint8Array> {
    const source = archiveOf(daemon, container, AbortSignal.any([signal, ended.signal]))
    yield* metered(source, { count, broken: 'unreachable' })
    await assertUnused(host, name, signal)
    isWhole = true
  }
  try {
    await write(archive())
    if (isWhole) return bytes
    throw new EngineError('refused', `the archive of the volume ${name} was not read to its end`)
  } finally {
    ended.abort(nobodyWaits)
    await removeHelpers(host, name, AbortSignal.timeout(60_000))
  }
}

/** Throws if the volume is in use: the archive would contain parts of later writes. */
async function assertUnused(host: Host, name: string, signal: AbortSignal): Promise<void> {
  const users = await usersOf(host, [name], signal)
  if (users.length > 0)
    throw new EngineError(
      'refused',
      `the volume ${name} is in use; copy it and read the copy, or stop the service that uses it`,
    )
}
