import { startDeadline } from '../../../lib/deadline.ts'
import { execIn } from '../container-output.ts'
import { listContainers } from '../containers.ts'
import type { DockerDaemon } from '../daemon.ts'
import { label } from '../labels.ts'
import { removeStopped } from './unused-builders.ts'

const pruneMs = 120_000

/**
 * Frees what the caches of the installation's daemons hold beyond the given bytes together. A
 * daemon that does not run loses its whole cache. Throws EngineError.
 */
export async function trimBuilders(
  { daemon, instance }: { readonly daemon: DockerDaemon; readonly instance: string },
  keepBytes: number,
  signal: AbortSignal,
): Promise<void> {
  const found = await listContainers(daemon, { instance, labels: { [label.builder]: true } }, signal)
  const running = found.filter(({ State }) => State === 'running')
  for (const { Id, Labels, State } of found) {
    if (State === 'exited' || State === 'created')
      await removeStopped(daemon, { instance, owner: Labels[label.builder] ?? '', id: Id }, signal)
  }
  const share = Math.floor(keepBytes / Math.max(1, running.length) / 1e6)
  const command = ['buildctl', 'prune', '--all', `--keep-storage=${share}`]
  for (const { Id } of running) {
    // A daemon that a step has taken over may never answer.
    await execIn(daemon, Id, command, startDeadline(pruneMs, signal).signal).catch(() => signal.throwIfAborted())
  }
}
