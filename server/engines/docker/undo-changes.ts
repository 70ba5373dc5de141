import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { EngineError, type Release } from '../engine.ts'
import { hostConfig } from './container-spec.ts'
import { inspectContainer, startContainer } from './containers.ts'
import { DaemonRefusal, type DockerDaemon, isRefusal } from './daemon.ts'
import { endProgram } from './lifecycle.ts'
import { isChanged } from './replica-state.ts'

/**
 * Restores the release's limits and restart policy if someone changed them by hand. Restarts the
 * container only if it uses more memory than its limit.
 */
export async function undoChanges(
  { daemon, clock }: { readonly daemon: DockerDaemon; readonly clock: Clock },
  release: Release,
  container: string,
  { signal, output }: Attempt,
): Promise<void> {
  const state = await inspectContainer(daemon, container, signal)
  if (!state || !isChanged(state)) return
  output.line(`Replica ${state.replica} was changed by hand; its limits are being restored`, 'warning')
  const { Memory, MemorySwap, NanoCpus, RestartPolicy } = hostConfig(release, true)
  const body = { Memory, MemorySwap, NanoCpus, RestartPolicy }
  const update = () => daemon.send({ method: 'POST', path: `/containers/${container}/update`, body, signal })
  try {
    await update().catch(async (error: unknown) => {
      // The kernel does not take memory away from a running program.
      if (!isRefusal(error, 500) || !state.running) throw error
      await endProgram({ daemon, clock }, { id: container, labels: state.labels, isRunning: true }, signal)
      await update()
      await startContainer(daemon, container, signal)
    })
  } catch (error) {
    if (!(error instanceof DaemonRefusal)) throw error
    throw new EngineError('refused', `the limits of replica ${state.replica} cannot be restored: ${error.message}`)
  }
}
