import type { Attempt } from '../../lib/attempt.ts'
import type { Release, Task } from '../engine.ts'
import { createContainer } from './containers.ts'
import type { ContainerCreateOptions } from './docker-api.ts'
import { idleProgram } from './idle-program.ts'
import { holderName, label, networkName, taskLabels } from './labels.ts'
import { ensureLocalImage } from './local-image.ts'
import type { Host } from './start.ts'
import { startOrReplace } from './start-or-replace.ts'

/** An image with a program that does nothing. */
export const holderImage = 'quayside/idle:1'
const program = idleProgram(process.arch)

/**
 * Making a container's network takes Docker longer than all else of its start. A run that begins at
 * a moment joins the network of a container that does nothing and was started before; both carry
 * the label of the run, and go together.
 */
export const hasHolder = ({ isPunctual }: Pick<Task, 'isPunctual'>): boolean =>
  isPunctual === true && program !== undefined

/** The holder of the run's network runs, also where somebody has ended or removed it. */
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
  // It minds no other, and has nothing to end.
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
