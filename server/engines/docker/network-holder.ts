import type { Attempt } from '../../lib/attempt.ts'
import type { Release, Task } from '../engine.ts'
import { createContainer } from './containers.ts'
import type { ContainerCreateOptions } from './docker-api.ts'
import { idleProgram } from './idle-program.ts'
import { holderName, label, networkName, taskLabels } from './labels.ts'
import { ensureLocalImage } from './local-image.ts'
import type { Host } from './start.ts'
import { startOrReplace } from './start-or-replace.ts'

/** An image that contains only the idle program. */
export const holderImage = 'quayside/idle:1'
const program = idleProgram(process.arch)

/**
 * Whether a run uses a network holder. Docker needs most of a container's start for its network. A
 * punctual run therefore joins the network of an idle container that was started before. Both carry
 * the run's label and are removed together.
 */
export const hasHolder = ({ isPunctual }: Pick<Task, 'isPunctual'>): boolean =>
  isPunctual === true && program !== undefined

/** Starts the holder of the run's network. Recreates it if somebody ended or removed it. */
export async function ensureHolder(
  { daemon, instance }: Host,
  release: Release<Task>,
  run: string,
  { signal, output }: Attempt,
): Promise<void> {
  if (!program) return
  await ensureLocalImage(daemon, holderImage, [{ name: 'idle', content: program }], signal)
  const spec = holderSpec(instance, release, run)
  const make = () => createContainer(daemon, { name: holderName(run), spec, output }, signal)
  await startOrReplace(daemon, await make(), { makeAgain: make, signal })
}

const memory = 16 * 1024 * 1024

const holderSpec = (instance: string, release: Release<Task>, run: string): ContainerCreateOptions => ({
  Image: holderImage,
  Entrypoint: ['/idle'],
  Healthcheck: { Test: ['NONE'] },
  // The program handles no other signal and has nothing to finish.
  StopSignal: 'SIGKILL',
  Labels: { ...taskLabels(instance, release, run), [label.holder]: 'yes' },
  HostConfig: {
    CapDrop: ['ALL'],
    LogConfig: { Type: 'none', Config: {} },
    Memory: memory,
    MemorySwap: memory,
    NetworkMode: networkName(release.environment),
    PidsLimit: 16,
    ReadonlyRootfs: true,
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    SecurityOpt: ['no-new-privileges:true'],
  },
  NetworkingConfig: {
    EndpointsConfig: { [networkName(release.environment)]: { Aliases: [...release.workload.aliases] } },
  },
})
