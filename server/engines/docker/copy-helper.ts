import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import { everyOne } from '../../lib/every-one.ts'
import { EngineError } from '../engine.ts'
import { createContainer, listContainers, removeContainer } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import type { ContainerCreateOptions } from './docker-api.ts'
import { label, volumeName } from './labels.ts'
import { ensureLocalImage } from './local-image.ts'
import type { Host } from './start.ts'

/** An image with nothing in it, for containers that never run: through them volumes are read and written without rights on the host. */
export const emptyImage = 'quayside/empty:1'

export const ensureEmptyImage = (daemon: DockerDaemon, signal: AbortSignal): Promise<void> =>
  ensureLocalImage(daemon, emptyImage, [], signal)

interface Helper {
  readonly instance: string
  readonly image: string
  /** The volume that is made. */
  readonly of: string
  readonly volume: string
}

/** A container that mounts one volume and never runs; only that which is called `to` may write in it. */
export function copyHelper(
  helper: Helper,
  end: 'from' | 'to' | 'read',
): { name: string; spec: ContainerCreateOptions } {
  return {
    name: `quay-copy-${end}-${helper.of}`,
    spec: {
      Image: helper.image,
      Cmd: ['none'],
      Labels: { [label.instance]: helper.instance, [label.copy]: helper.of },
      HostConfig: {
        NetworkMode: 'none',
        Mounts: [
          {
            Type: 'volume',
            Source: helper.volume,
            Target: copyHelper.path,
            ReadOnly: end !== 'to',
            VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
          },
        ],
      },
    },
  }
}
copyHelper.path = '/volume'

/**
 * What the volume of a helper holds, as an archive of tar: the directory of the volume itself, with owner and mode, and what is in it, each
 * below `volume/`.
 */
export async function* archiveOf(
  daemon: DockerDaemon,
  helper: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const query = { path: copyHelper.path }
  const path = `/containers/${helper}/archive`
  const archive = await daemon.stream({ method: 'GET', path, query, signal, timeoutMs: 60_000 })
  try {
    yield* archive
  } catch (cause) {
    signal.throwIfAborted()
    throw new EngineError('unreachable', `the archive of a volume broke off: ${messageOf(cause)}`, { cause })
  } finally {
    archive.destroy()
  }
}

/**
 * Makes a helper that reads a volume of ours, and gives its container. Docker makes a volume that is not there: one that was removed at this
 * moment must not look like an empty one. From now on it cannot be removed.
 */
export async function makeReader(
  host: Pick<Host, 'daemon' | 'instance'>,
  { id, of, end }: { readonly id: string; readonly of: string; readonly end: 'from' | 'read' },
  { signal, output }: Attempt,
): Promise<string> {
  const { daemon, instance } = host
  const volume = volumeName({ id })
  const { name, spec } = copyHelper({ instance, image: emptyImage, of, volume }, end)
  const container = await createContainer(daemon, { name, spec, output }, signal)
  if (await isOurVolume(host, id, signal)) return container
  await removeContainer(daemon, container, signal)
  throw new EngineError('refused', `the volume ${volume} was removed while it was to be read`)
}

/** Removes the helpers that were made for this volume, also those of an earlier process. */
export async function removeHelpers({ daemon, instance }: Host, of: string, signal: AbortSignal): Promise<void> {
  const found = await listContainers(daemon, { instance, labels: { [label.copy]: of } }, signal)
  await everyOne(found.map(({ Id }) => removeContainer(daemon, Id, signal)))
}

/** Whether the volume of that storage is there, and this installation's. */
export async function isOurVolume(
  { daemon, instance }: Pick<Host, 'daemon' | 'instance'>,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const answer = await daemon.json({ method: 'GET', path: `/volumes/${volumeName({ id })}`, signal })
    return Object(Object(answer).Labels)[label.instance] === instance
  } catch (error) {
    if (isRefusal(error, 404)) return false
    throw error
  }
}
