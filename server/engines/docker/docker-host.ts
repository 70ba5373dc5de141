import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { createSlots } from '../../lib/slots.ts'
import { DockerDaemon } from './daemon.ts'
import { Events, type Listener } from './events.ts'
import type { KnownStates } from './known-states.ts'
import { LayerLimits } from './layer-limits.ts'
import type { Host } from './start.ts'

export interface DockerHostOptions {
  /** Path of the daemon's unix socket. */
  readonly socketPath: string
  readonly instance: string
  readonly clock: Clock
  readonly log?: Pick<Logger, 'warn'> | undefined
  /** Forgets states of containers that an event reports. */
  readonly known: KnownStates
}

/** Creates what the parts of one Docker Engine share. Asks nobody yet. */
export function createDockerHost({ socketPath, instance, clock, log, known }: DockerHostOptions): Host {
  const daemon = new DockerDaemon({ socketPath, clock })
  const whenRefused = (reason: string) =>
    log?.warn({ reason }, 'Docker created a container without a limit of its layer')
  const layers = new LayerLimits({ daemon, whenRefused })
  const heard: Listener = (event) => {
    known.forget(event?.container)
    if (!event) layers.forget()
  }
  return {
    daemon,
    clock,
    instance,
    events: new Events({ daemon, clock, instance, heard }),
    hasInit: initOf(daemon),
    layers,
    postStarted: new Map(),
    madeTasks: new Set(),
    making: createSlots(1),
    networksToCome: new Map(),
  }
}

/** Asks the daemon once whether it has a `docker-init`. */
function initOf(daemon: DockerDaemon): Host['hasInit'] {
  let hasInit: boolean | undefined
  return async (signal) => {
    if (hasInit === undefined) {
      // The shape is that of Docker's published API.
      const info = (await daemon.json({ method: 'GET', path: '/info', signal })) as { InitCommit?: { ID?: string } }
      // This is how the daemon says that it could not run its docker-init.
      hasInit = info.InitCommit?.ID !== 'N/A'
    }
    return hasInit
  }
}
