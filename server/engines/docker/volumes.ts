import { EngineError, type Release, type VolumeOwner } from '../engine.ts'
import { absent } from './containers.ts'
import { removeHelpers } from './copy-helper.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { label, labelFilter, volumeName } from './labels.ts'
import type { Host } from './start.ts'

/** Creates the release's volumes if they are missing. Docker returns an existing volume. */
export async function ensureVolumes(
  daemon: DockerDaemon,
  instance: string,
  release: Release,
  signal: AbortSignal,
): Promise<void> {
  const { service, environment } = release
  await Promise.all(
    release.workload.storage.map(({ id }) => createVolume(daemon, instance, { id, service, environment }, signal)),
  )
}

/** Creates the volume of a storage, or finds it. */
export const createVolume = (
  daemon: DockerDaemon,
  instance: string,
  { id, service, environment }: VolumeOwner & { readonly id: string },
  signal: AbortSignal,
): Promise<void> =>
  daemon.send({
    method: 'POST',
    path: '/volumes/create',
    body: {
      Name: volumeName({ id }),
      Driver: 'local',
      Labels: {
        [label.instance]: instance,
        [label.service]: service,
        [label.environment]: environment,
        [label.storage]: id,
      },
    },
    signal,
  })

/**
 * Removes a volume of ours, together with helper containers that an earlier process left. Ignores a
 * missing volume.
 */
export async function removeVolume(host: Host, name: string, signal: AbortSignal): Promise<void> {
  await removeHelpers(host, name, signal)
  try {
    await absent(host.daemon.send({ method: 'DELETE', path: `/volumes/${encodeURIComponent(name)}`, signal }))
  } catch (error) {
    if (!isRefusal(error, 409)) throw error
    throw new EngineError('refused', `the volume ${name} is in use; stop the service that uses it first`, {
      cause: error,
    })
  }
}

/** Removes all volumes of the service, including those that no release mentions any more. */
export async function eraseVolumes(host: Host, service: string, signal: AbortSignal): Promise<void> {
  const { daemon, instance } = host
  const filters = labelFilter(instance, { [label.service]: service })
  const answer = await daemon.json({ method: 'GET', path: '/volumes', query: { filters }, signal })
  if (!('Volumes' in answer)) throw new EngineError('unreachable', 'Docker returned an invalid list of volumes')
  const volumes = Array.isArray(answer.Volumes) ? answer.Volumes : []
  await Promise.all(volumes.map((volume: { Name: string }) => removeVolume(host, volume.Name, signal)))
}
