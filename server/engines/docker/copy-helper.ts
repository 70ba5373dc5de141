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

/**
 * An empty image for containers that never run. Through them volumes are read and written without
 * rights on the host.
 */
export const emptyImage = 'quayside/empty:1'

export const ensureEmptyImage = (daemon: DockerDaemon, signal: AbortSignal): Promise<void> =>
  ensureLocalImage(daemon, emptyImage, [], signal)

interface Helper {
  readonly instance: string
  readonly image: string
  /** The volume to create. */
  readonly of: string
  readonly volume: string
}

/**
 * Returns a container that mounts one volume and never runs. Only the one called `to` may write to
 * it.
 */
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
 * Returns the content of a helper's volume as a tar archive: the volume's own directory, with owner
 * and mode, and its entries, each below `volume/`.
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
    throw new EngineError('unreachable', `the archive of a volume ended early: ${messageOf(cause)}`, { cause })
  } finally {
    archive.destroy()
  }
}

/**
 * Creates a helper that reads a volume of ours, and returns its container. Docker creates a missing
 * volume, so a volume removed at this moment must not look like an empty one. Once the helper
 * exists, the volume cannot be removed.
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
  throw new EngineError('refused', `the volume ${volume} was removed before it could be read`)
}

/** Removes the helpers of this volume, including those of an earlier process. */
export async function removeHelpers({ daemon, instance }: Host, of: string, signal: AbortSignal): Promise<void> {
  const found = await listContainers(daemon, { instance, labels: { [label.copy]: of } }, signal)
  await everyOne(found.map(({ Id }) => removeContainer(daemon, Id, signal)))
}

/** Returns whether the volume of that storage exists and belongs to this installation. */
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
