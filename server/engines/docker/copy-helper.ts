import type { ContainerCreateOptions } from 'dockerode'
import { listContainers } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
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
  readonly readOnly: boolean
}

/** A container that mounts one volume and never runs. The directory of the volume itself is in its archive, with owner and mode. */
export function copyHelper(helper: Helper, end: 'from' | 'to'): { name: string; spec: ContainerCreateOptions } {
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
            ReadOnly: helper.readOnly,
            VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
          },
        ],
      },
    },
  }
}
copyHelper.path = '/volume'

export async function listHelpers({ daemon, instance }: Host, of: string, signal: AbortSignal): Promise<string[]> {
  const found = await listContainers(daemon, { instance, labels: { [label.copy]: of } }, signal)
  return found.map(({ Id }) => Id)
}

/** Whether the volume of that storage is there, and this installation's. */
export async function isOurVolume({ daemon, instance }: Host, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await daemon.json({ method: 'GET', path: `/volumes/${volumeName({ id })}`, signal })
    return Object(Object(answer).Labels)[label.instance] === instance
  } catch (error) {
    if (isRefusal(error, 404)) return false
    throw error
  }
}
