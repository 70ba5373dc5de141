import type { Clock } from '../../lib/clock.ts'
import { everyOne } from '../../lib/every-one.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { listContainers, removeContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import type { ContainerInfo } from './docker-api.ts'
import { label } from './labels.ts'
import { endProgram } from './lifecycle.ts'

interface Where {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
}

/**
 * Stops all containers of the service in parallel, except those of the release `keep`, then removes
 * them. Can be repeated after any failure.
 */
export const retireService = (
  host: Where,
  service: string,
  keep: string | undefined,
  signal: AbortSignal,
): Promise<void> => end(host, service, ({ Labels }) => Labels[label.release] !== keep, signal)

/** Stops and removes the containers of these names in the same way. */
export const endReplicas = (
  host: Where,
  service: string,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<void> => end(host, service, ({ Names }) => Names.some((name) => names.has(name.replace(/^\//, ''))), signal)

async function end(
  { daemon, clock, instance }: Where,
  service: string,
  leaves: (container: ContainerInfo) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const find = async () => {
    const found = await daemon.patiently(signal, () =>
      listContainers(daemon, { instance, labels: { [label.service]: service } }, signal),
    )
    return found.filter((container) => leaves(container) && container.State !== 'removing')
  }
  // Repeats until none is left: an interrupted start may still create one more container.
  for (let containers = await find(); containers.length > 0; containers = await find()) {
    await everyOne(
      containers.map(({ Id: id, Labels: labels, State }) => {
        const isRunning = State === 'running'
        return daemon.patiently(signal, () => endProgram({ daemon, clock }, { id, labels, isRunning }, signal))
      }),
    )
    failpoint('retire.stopped')
    await everyOne(containers.map(({ Id }) => daemon.patiently(signal, () => removeContainer(daemon, Id, signal))))
  }
}
