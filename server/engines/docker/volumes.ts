import { EngineError, type Release } from '../engine.ts'
import { absent } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import { label, labelFilter, volumeName } from './labels.ts'

/** Sees to it that the release's volumes exist. Docker gives back a volume that is there already. */
export async function ensureVolumes(
  daemon: DockerDaemon,
  instance: string,
  release: Release,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    release.workload.storage.map((volume) =>
      daemon.send({
        method: 'POST',
        path: '/volumes/create',
        body: {
          Name: volumeName(volume),
          Driver: 'local',
          Labels: {
            [label.instance]: instance,
            [label.service]: release.service,
            [label.environment]: release.environment,
            [label.storage]: volume.id,
          },
        },
        signal,
      }),
    ),
  )
}

/** Removes every volume of the service, also those that no release mentions any more. */
export async function eraseVolumes(
  daemon: DockerDaemon,
  instance: string,
  service: string,
  signal: AbortSignal,
): Promise<void> {
  const filters = labelFilter(instance, { [label.service]: service })
  const answer = await daemon.json({ method: 'GET', path: '/volumes', query: { filters }, signal })
  if (!('Volumes' in answer))
    throw new EngineError('unreachable', 'Docker answered a list of volumes with something else')
  const volumes = Array.isArray(answer.Volumes) ? answer.Volumes : []
  await Promise.all(
    volumes.map((volume: { Name: string }) =>
      absent(daemon.send({ method: 'DELETE', path: `/volumes/${encodeURIComponent(volume.Name)}`, signal })),
    ),
  )
}
