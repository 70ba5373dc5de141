import { startDeadline } from '../../lib/deadline.ts'
import { EngineError, type Task } from '../engine.ts'
import { KubeError, kinds, type Pod } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { mainContainer } from './program.ts'
import { runInside } from './run-inside.ts'
import { filesContainer, holdContainer, marks } from './task-files.ts'
import { hasStarted, isKept, isRunning } from './task-input.ts'

/** How long a program may take to end after all of its children were killed. */
const killedSeconds = 30
/** How long the helpers of a pod may take to end. */
const leaveSeconds = 60
/** How long a program whose input files are complete may take to begin. */
const beginSeconds = 60

/**
 * Ends the program of a run in order, and keeps its pod. After the grace time, all processes below
 * the program are killed, because no signal kills the first process of a container from inside.
 */
export async function endProgram(
  host: KubeHost,
  { stopGraceSeconds }: Pick<Task, 'stopGraceSeconds'>,
  pod: Pod,
  signal: AbortSignal,
): Promise<void> {
  for (const { command, seconds } of [
    { command: 'kill -TERM 1', seconds: stopGraceSeconds },
    { command: 'kill -KILL -1', seconds: killedSeconds },
  ]) {
    const told = await runInside(host, pod, { container: mainContainer, command }, signal)
    if (await becomes(host, pod, { isReached: (now) => !isRunning(now), seconds }, signal)) return
    // The API server also refuses a command in a program that has just ended.
    if (told instanceof KubeError) throw told
  }
}

/**
 * Returns whether the program of a run has begun. One whose input files are complete begins at any
 * moment, so this waits for it. Its pod may have ended when this returns.
 */
export async function hasBegun(host: KubeHost, pod: Pod, signal: AbortSignal): Promise<boolean> {
  if (hasStarted(pod)) return true
  if (!isKept(pod)) return false
  const look = { container: filesContainer, command: `[ -e ${marks.open} ]` }
  const isOpen = await runInside(host, pod, look, signal)
  if (isOpen instanceof KubeError) throw isOpen
  if (isOpen !== 0) return false
  const isReached = (now: Pod): boolean => hasStarted(now) || !isKept(now)
  return becomes(host, pod, { isReached, seconds: beginSeconds }, signal)
}

/** Lets the container that keeps the files of a run end as soon as its pod is deleted. */
export async function markRead(host: KubeHost, pod: Pod, signal: AbortSignal): Promise<void> {
  const told = await runInside(host, pod, { container: filesContainer, command: `: >${marks.read}` }, signal)
  if (told instanceof KubeError) throw told
}

/** Lets a pod end that only waits for the reader of its files. */
export async function letPodEnd(host: KubeHost, pod: Pod, signal: AbortSignal): Promise<void> {
  const told = await runInside(host, pod, { container: holdContainer, command: 'kill -TERM 1' }, signal)
  const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'
  if (await becomes(host, pod, { isReached: hasEnded, seconds: leaveSeconds }, signal)) return
  throw told instanceof KubeError ? told : new EngineError('unreachable', 'The pod of a run does not end.')
}

/** Waits until a pod reaches something or is gone. Returns false if that takes too long. */
async function becomes(
  host: KubeHost,
  { metadata }: Pod,
  { isReached, seconds }: { readonly isReached: (pod: Pod) => boolean; readonly seconds: number },
  outer: AbortSignal,
): Promise<boolean> {
  const { namespace, name } = metadata
  const deadline = startDeadline(seconds * 1000, outer)
  const wish = { kind: kinds.pod, selection: { namespace, fields: `metadata.name=${name}` }, reduce: isReached }
  try {
    for await (const pods of followObjects(host, wish, deadline.signal)) {
      if (![...pods.values()].includes(false)) return true
    }
    return false
  } catch (error) {
    if (outer.aborted || !deadline.isOver) throw error
    return false
  }
}
