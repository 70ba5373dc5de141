import type { Clock } from '../../../lib/clock.ts'
import type { KeyedSlots } from '../../../lib/keyed-slots.ts'
import {
  absent,
  inspectContainer,
  listContainers,
  removeContainer,
  removeUnstarted,
  stopContainer,
} from '../containers.ts'
import { type DockerDaemon, isRefusal } from '../daemon.ts'
import { label } from '../labels.ts'
import { builderName } from './builder-spec.ts'

const day = 24 * 3600 * 1000
/** A cache that no build used for so long is removed. Its organization may be gone. */
const unusedMs = 7 * day
const graceSeconds = 5

export interface UnusedOptions {
  readonly daemon: DockerDaemon
  readonly instance: string
  readonly clock: Clock
  readonly alone: KeyedSlots
  /** Whether the daemon of an owner has something to build, or had a moment ago. */
  readonly isUsed: (owner: string) => boolean
}

/**
 * Stops unused daemons, including daemons of an earlier process. Removes daemons that stopped a
 * week ago, with their caches. Throws EngineError.
 */
export async function endUnused(options: UnusedOptions, signal: AbortSignal): Promise<void> {
  const { daemon, instance, clock, alone, isUsed } = options
  for (const { Id, Labels } of await listContainers(daemon, { instance, labels: { [label.builder]: true } }, signal)) {
    const owner = Labels[label.builder] ?? ''
    using _ = await alone.take(owner, signal)
    if (isUsed(owner)) continue
    const found = await inspectContainer(daemon, Id, signal)
    if (found?.running) {
      // A build of another server of this installation is connected by such a command.
      if (!(await runsCommand(daemon, Id, signal))) await stopContainer(daemon, { id: Id, graceSeconds }, signal)
    } else if (found && clock.now().getTime() - Date.parse(found.finishedAt) > unusedMs) {
      await removeBuilder(daemon, { instance, owner, id: Id }, signal)
    }
  }
}

/** Whether a command that was started in the container still runs. */
async function runsCommand(daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<boolean> {
  // The shapes are those of Docker's published API.
  const { ExecIDs } = (await daemon.json({ method: 'GET', path: `/containers/${id}/json`, signal })) as {
    readonly ExecIDs?: readonly string[] | null
  }
  for (const exec of ExecIDs ?? []) {
    const found = await daemon.json({ method: 'GET', path: `/exec/${exec}/json`, signal }).catch((error: unknown) => {
      if (isRefusal(error, 404)) return {}
      throw error
    })
    if ('Running' in found && found.Running === true) return true
  }
  return false
}

/** Removes a container of a builder and its cache. */
export async function removeBuilder(
  daemon: DockerDaemon,
  { instance, owner, id }: { readonly instance: string; readonly owner: string; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  await removeContainer(daemon, id, signal)
  await removeCache(daemon, { instance, owner }, signal)
}

/** Removes a stopped container of a builder and its cache, unless somebody uses it again. */
export async function removeStopped(
  daemon: DockerDaemon,
  { instance, owner, id }: { readonly instance: string; readonly owner: string; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  if (await removeUnstarted(daemon, id, signal)) await removeCache(daemon, { instance, owner }, signal)
}

async function removeCache(
  daemon: DockerDaemon,
  builder: { readonly instance: string; readonly owner: string },
  signal: AbortSignal,
): Promise<void> {
  const path = `/volumes/${builderName(builder)}`
  try {
    await absent(daemon.send({ method: 'DELETE', path, signal, timeoutMs: 120_000 }))
  } catch (error) {
    // A build has created the container again, with this cache.
    if (!isRefusal(error, 409)) throw error
  }
}
