import type { ContainerInfo } from 'dockerode'
import type { Attempt } from '../../lib/attempt.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { masker, Secret } from '../../lib/secret.ts'
import { EngineError, type Release, type RunningTask, type Task, type TaskOutcome } from '../engine.ts'
import { lastLines } from './container-output.ts'
import { taskSpec } from './container-spec.ts'
import {
  createContainer,
  inspectContainer,
  listContainers,
  removeContainer,
  startContainer,
  stopContainer,
} from './containers.ts'
import { writeFiles } from './files.ts'
import { label, taskGraceSeconds, taskName } from './labels.ts'
import { ensureNetwork } from './networks.ts'
import type { ReplicaState } from './replica-state.ts'
import { everyOne, type Host } from './start.ts'
import { prepareOutput, readOutput } from './task-output.ts'

/** Engine.prepareTask for Docker: the container of the run, with its files. One that runs or has ended is left as it is. */
export async function prepareTask(host: Host, release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
  const { daemon, instance } = host
  const { signal, output } = attempt
  await daemon.patiently(signal, async () => {
    const [withInit] = await Promise.all([host.hasInit(signal), ensureNetwork(host, release.environment, signal)])
    const spec = taskSpec(release, run, { instance, withInit })
    const container = await createContainer(daemon, { name: taskName(run), spec, output }, signal)
    failpoint('task.created')
    const state = await inspectContainer(daemon, container, signal)
    if (state?.status !== 'created') return
    await prepareOutput(daemon, container, release.workload.outputFile, signal)
    await writeFiles(daemon, container, release.workload.files, signal)
  })
}

/** Engine.runTask for Docker. */
export async function runTask(
  host: Host,
  release: Release<Task>,
  run: string,
  { signal }: Attempt,
): Promise<TaskOutcome> {
  const { daemon } = host
  const state = await daemon.patiently(signal, () => look(host, run, signal))
  if (state.status === 'created') {
    await daemon.patiently(signal, () => startContainer(daemon, state.id, signal))
    failpoint('task.started')
  }
  const ended = await untilEnded(host, release, run, signal)
  failpoint('task.ended')
  return outcomeOf(host, release, ended, signal)
}

/** Engine.endTask for Docker. */
export async function endTask({ daemon, instance }: Host, run: string, { signal }: Attempt): Promise<void> {
  await daemon.patiently(signal, async () => {
    const found = await listContainers(daemon, { instance, labels: { [label.run]: run } }, signal)
    await everyOne(
      found.map(async ({ Id, State }) => {
        if (State === 'running') await stopContainer(daemon, { id: Id, graceSeconds: taskGraceSeconds }, signal)
        await removeContainer(daemon, Id, signal)
      }),
    )
  })
}

export const isTask = ({ Labels }: ContainerInfo): boolean => Labels[label.run] !== undefined

export async function listTasks({ daemon, instance }: Host, signal: AbortSignal): Promise<RunningTask[]> {
  const found = await listContainers(daemon, { instance }, signal)
  return found.filter(isTask).map(({ Labels, State }) => ({
    run: Labels[label.run] ?? '',
    service: Labels[label.service] ?? '',
    running: State === 'running' || State === 'paused',
  }))
}

async function look({ daemon, instance }: Host, run: string, signal: AbortSignal): Promise<ReplicaState> {
  const state = await inspectContainer(daemon, taskName(run), signal)
  const isOurs = state?.labels[label.instance] === instance && state.labels[label.run] === run
  if (!state || !isOurs || state.status === 'removing' || state.status === 'dead') {
    throw new EngineError('crashed', 'The container of this run is gone: somebody removed it. It is not run again.')
  }
  return state
}

/** Seldom for what takes long, at once for what does not. */
const pauseMs = (elapsedMs: number): number => Math.max(25, Math.min(elapsedMs / 20, 500))

/** Whoever asks later than the end of its time ends it then. */
async function untilEnded(
  host: Host,
  { workload }: Release<Task>,
  run: string,
  signal: AbortSignal,
): Promise<ReplicaState> {
  const { daemon, clock } = host
  const began = clock.monotonic()
  for (;;) {
    const state = await daemon.patiently(signal, () => look(host, run, signal))
    if (state.status === 'exited') return state
    const ageMs = state.startedAt ? clock.now().getTime() - Date.parse(state.startedAt) : 0
    if (ageMs >= workload.timeoutSeconds * 1000) {
      const container = { id: state.id, graceSeconds: taskGraceSeconds }
      await daemon.patiently(signal, () => stopContainer(daemon, container, signal))
    } else {
      await clock.sleep(pauseMs(clock.monotonic() - began), signal)
    }
  }
}

async function outcomeOf(
  { daemon }: Host,
  { workload }: Release<Task>,
  state: ReplicaState,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const startedAt = new Date(state.startedAt)
  // A daemon that was killed with the program does not know when that ended.
  const finishedAt = new Date(Math.max(Date.parse(state.finishedAt), startedAt.getTime()))
  const mask = masker(Object.values(workload.variables).filter((value) => value instanceof Secret))
  const output = await daemon.patiently(signal, () => readOutput(daemon, state.id, workload.outputFile, signal))
  const lines = await daemon.patiently(signal, () => lastLines(daemon, state.id, 20, signal))
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
