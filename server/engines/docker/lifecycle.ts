import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { messageOf } from '../../lib/error.ts'
import { parseForeign } from '../../lib/foreign-json.ts'
import { masker } from '../../lib/masker.ts'
import { EngineError, type LongRunning, secretsIn } from '../engine.ts'
import { execIn } from './container-output.ts'
import { inspectContainer, listContainers, stopContainer } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import type { ContainerInfo } from './docker-api.ts'
import { label } from './labels.ts'
import type { ReplicaState } from './replica-state.ts'

interface Where {
  readonly daemon: DockerDaemon
  readonly clock: Clock
}

/** The start, by container, for which this process has run the post-start command. */
export type PostStarted = Map<string, string>

/** The least time to end after the pre-stop command, as in Kubernetes. */
const leastSeconds = 2

/** Returns the command in a label. Undefined if it holds none: the label may come from an image. */
const commandOf = (labels: Readonly<Record<string, string>>, name: string): string[] | undefined => {
  try {
    const command: unknown = parseForeign(Buffer.from(labels[name] ?? 'null'))
    const isCommand = Array.isArray(command) && command.every((word) => typeof word === 'string')
    return isCommand ? command : undefined
  } catch {
    return undefined
  }
}

/**
 * Runs the post-start command in a running container, once per start of the container. Ignores a
 * container that has ended: its health check reports that. Throws EngineError('crashed') if the
 * command fails or times out.
 */
export async function runPostStart(
  { daemon, postStarted }: Where & { readonly postStarted: PostStarted },
  container: string,
  workload: Pick<LongRunning, 'postStart' | 'startDeadlineSeconds' | 'variables' | 'files'>,
  outer: AbortSignal,
): Promise<void> {
  const { postStart: command, startDeadlineSeconds } = workload
  if (!command || command.length === 0) return
  const state = await inspectContainer(daemon, container, outer)
  if (!state?.running || postStarted.get(container) === state.startedAt) return
  const { signal } = startDeadline(startDeadlineSeconds * 1000, outer)
  try {
    const { exitCode, output } = await execIn(daemon, container, command, signal)
    if (exitCode !== 0) throw failed(`ended with exit code ${exitCode}`, masker(secretsIn(workload))(output))
    postStarted.set(container, state.startedAt)
  } catch (error) {
    outer.throwIfAborted()
    if (signal.aborted) throw failed(`did not end within ${startDeadlineSeconds} s`, '')
    if (!isRefusal(error, 404, 409)) throw error
  }
}

const failed = (what: string, output: string): EngineError =>
  new EngineError('crashed', `the post-start command ${what}; correct deployment.lifecycle.post_start_exec_command`, {
    lastLines: output
      .split('\n')
      .filter((line) => line !== '')
      .slice(-20),
  })

/**
 * Ends a container's program: runs its pre-stop command if it has one, then asks the program to
 * end, both within the grace time. A failed command does not stop the end.
 */
export async function endProgram(
  { daemon, clock }: Where,
  {
    id,
    labels,
    isRunning,
  }: { readonly id: string; readonly labels: ReplicaState['labels']; readonly isRunning: boolean },
  outer: AbortSignal,
): Promise<void> {
  const graceSeconds = isRunning ? await graceAfterPreStop({ daemon, clock }, { id, labels }, outer) : graceOf(labels)
  await stopContainer(daemon, { id, graceSeconds }, outer)
}

const graceOf = (labels: ReplicaState['labels']): number => Number(labels[label.stopGraceSeconds] ?? 10)

/**
 * Runs the pre-stop command of a running container. Returns the seconds that its program has left
 * to end.
 */
export async function graceAfterPreStop(
  { daemon, clock }: Where,
  { id, labels }: { readonly id: string; readonly labels: ReplicaState['labels'] },
  outer: AbortSignal,
): Promise<number> {
  const graceSeconds = graceOf(labels)
  const command = commandOf(labels, label.preStop)
  if (!command || command.length === 0) return graceSeconds
  const begunMs = clock.monotonic()
  const { signal } = startDeadline(graceSeconds * 1000, outer)
  try {
    await execIn(daemon, id, command, signal)
  } catch {
    outer.throwIfAborted()
  }
  return Math.max(leastSeconds, graceSeconds - Math.ceil((clock.monotonic() - begunMs) / 1000))
}

/** A container is started right after it was created. A later start is a restart. */
const firstStartMs = 300_000

/** Whether a container has started more than once. */
const isRestarted = ({ createdAt, startedAt, exits }: ReplicaState): boolean =>
  exits > 0 || Date.parse(startedAt) - Date.parse(createdAt) > firstStartMs

/**
 * Runs the post-start command of replicas that Docker has restarted. Returns the names of the
 * replicas in which it failed. A new process knows no earlier starts, so a command may run again
 * after the platform restarts.
 */
export async function followRestarts(
  { daemon, clock, instance, postStarted }: Where & { readonly instance: string; readonly postStarted: PostStarted },
  signal: AbortSignal,
): Promise<string[]> {
  const found = await listContainers(daemon, { instance, labels: { [label.postStart]: true } }, signal)
  const ids = new Set(found.map(({ Id }) => Id))
  for (const id of postStarted.keys()) if (!ids.has(id)) postStarted.delete(id)
  const results = await Promise.all(found.filter(({ State }) => State === 'running').map(follow))
  return results.filter((name) => name !== undefined)

  async function follow({ Id, Labels }: ContainerInfo): Promise<string | undefined> {
    const state = await inspectContainer(daemon, Id, signal)
    if (!state?.running || postStarted.get(Id) === state.startedAt) return undefined
    const postStart = commandOf(Labels, label.postStart)
    // The engine's own start runs the command, or has run it.
    if (!postStart || (!postStarted.has(Id) && !isRestarted(state))) return undefined
    // Once per restart: a failing command must not run every second.
    postStarted.set(Id, state.startedAt)
    const workload = { postStart, startDeadlineSeconds: 60, variables: {}, files: [] }
    try {
      await runPostStart({ daemon, clock, postStarted: new Map() }, Id, workload, signal)
      return undefined
    } catch (error) {
      signal.throwIfAborted()
      return `${state.name}: ${messageOf(error)}`
    }
  }
}
