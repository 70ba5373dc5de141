import { masker } from '../../lib/masker.ts'
import { EngineError, type Release, secretsIn, type Task, type TaskFile, type TaskOutcome } from '../engine.ts'
import { endedWith, outputFileAt } from '../program-rules.ts'
import { lastLines } from './container-output.ts'
import { inspectContainer, listContainers, stopContainer, untilStopped } from './containers.ts'
import { label, taskName } from './labels.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Host } from './start.ts'
import { readOutput, readOutputs } from './task-output.ts'

/** Returns the container of a run. Throws EngineError if somebody removed it. */
export async function look({ daemon, instance }: Host, run: string, signal: AbortSignal): Promise<ReplicaState> {
  const named = await inspectContainer(daemon, taskName(run), signal)
  const isOurs = named?.labels[label.instance] === instance && named.labels[label.run] === run
  const state = isOurs ? named : await findRenamed({ daemon, instance }, run, signal)
  if (!state || state.status === 'removing' || state.status === 'dead') {
    throw new EngineError('crashed', 'Somebody removed the container of this run. It does not run again.')
  }
  return state
}

async function findRenamed(
  { daemon, instance }: Pick<Host, 'daemon' | 'instance'>,
  run: string,
  signal: AbortSignal,
): Promise<ReplicaState | undefined> {
  const all = await listContainers(daemon, { instance, labels: { [label.run]: run } }, signal)
  const found = all.find(({ Labels }) => Labels[label.holder] === undefined)
  return found && inspectContainer(daemon, found.Id, signal)
}

/** Returns how much of the run's time is left, in milliseconds. */
export const leftOf = ({ clock }: Host, { workload }: Release<Task>, { startedAt }: ReplicaState): number =>
  workload.timeoutSeconds * 1000 - (startedAt ? clock.now().getTime() - Date.parse(startedAt) : 0)

/** The daemon reports the end. In case it does not, the container is inspected after this time. */
const longestWaitMs = 30_000

/** Waits until the run ends. Ends it once its time is up. */
export async function untilEnded(
  host: Host,
  release: Release<Task>,
  { run, leftMs: firstMs }: { readonly run: string; readonly leftMs: number },
  signal: AbortSignal,
): Promise<ReplicaState> {
  const { daemon } = host
  let id = taskName(run)
  for (let leftMs = firstMs; ; ) {
    if (leftMs > 0) await untilStopped(host, id, Math.min(leftMs, longestWaitMs), signal)
    else {
      const container = { id, graceSeconds: release.workload.stopGraceSeconds }
      await daemon.patiently(signal, () => stopContainer(daemon, container, signal))
    }
    const state = await daemon.patiently(signal, () => look(host, run, signal))
    if (state.status === 'exited') return state
    id = state.id
    leftMs = leftOf(host, release, state)
  }
}

/** Engine.readTaskFile for Docker. */
export async function readTaskFile(
  host: Host,
  { workload }: Release<Task>,
  { run, path }: { readonly run: string; readonly path: string },
  signal: AbortSignal,
): Promise<TaskFile | undefined> {
  const file = outputFileAt(workload, path)
  const { id } = await look(host, run, signal)
  return readOutput(host.daemon, id, file, signal)
}

/** Returns the outcome of a run that has ended. */
export async function outcomeOf(
  { daemon }: Host,
  { workload }: Release<Task>,
  state: ReplicaState,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const startedAt = new Date(state.startedAt)
  // If the daemon was killed together with the program, it does not know when the program ended.
  const finishedAt = new Date(Math.max(Date.parse(state.finishedAt), startedAt.getTime()))
  const mask = masker(secretsIn(workload))
  const ended = endedWith(workload, state.exitCode)
  const [output, lines] = await Promise.all([
    daemon.patiently(signal, () => readOutputs(daemon, state.id, ended, signal)),
    daemon.patiently(signal, () => lastLines(daemon, state.id, 20, signal)),
  ])
  return {
    exitCode: state.exitCode ?? -1,
    outOfMemory: state.outOfMemory,
    timedOut: finishedAt.getTime() - startedAt.getTime() >= workload.timeoutSeconds * 1000,
    startedAt,
    finishedAt,
    ...output,
    lastLines: lines.map(mask),
  }
}
