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
  untilStopped,
} from './containers.ts'
import { writeFiles } from './files.ts'
import { label, taskGraceSeconds, taskName } from './labels.ts'
import { ensureHolder, hasHolder } from './network-holder.ts'
import { ensureNetwork } from './networks.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Host } from './start.ts'
import { prepareOutput, readOutput } from './task-output.ts'

/** Engine.prepareTask for Docker: the container of the run, with its files. One that runs or has ended is left as it is. */
export async function prepareTask(host: Host, release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
  const { daemon, instance } = host
  const { signal, output } = attempt
  const withHolder = hasHolder(release.workload)
  await daemon.patiently(signal, async () => {
    const [withInit] = await Promise.all([host.hasInit(signal), ensureNetwork(host, release.environment, signal)])
    if (withHolder) await ensureHolder(host, release, run, attempt)
    const spec = taskSpec(release, run, { instance, withInit, withHolder })
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
  attempt: Attempt & { readonly whenReady?: () => Promise<void> },
): Promise<TaskOutcome> {
  const { daemon } = host
  const { signal, whenReady } = attempt
  const state = await daemon.patiently(signal, () => look(host, run, signal))
  const isNew = state.status === 'created'
  if (isNew) {
    if (hasHolder(release.workload)) await daemon.patiently(signal, () => ensureHolder(host, release, run, attempt))
    await whenReady?.()
    await daemon.patiently(signal, () => startTask(host, release, { run, id: state.id }, attempt))
    failpoint('task.started')
  }
  const leftMs = isNew ? release.workload.timeoutSeconds * 1000 : leftOf(host, release, state)
  const ended = await untilEnded(host, release, { run, leftMs }, signal)
  failpoint('task.ended')
  return outcomeOf(host, release, ended, signal)
}

/** Where somebody has ended or removed what holds its network, that is made again, and then the container which was never started. */
async function startTask(
  host: Host,
  release: Release<Task>,
  { run, id }: { readonly run: string; readonly id: string },
  attempt: Attempt,
): Promise<void> {
  const { signal } = attempt
  try {
    await startContainer(host.daemon, id, signal)
  } catch (error) {
    const { message } = error instanceof EngineError ? error : { message: '' }
    const isGone = /No such container/.test(message) && !message.includes(id)
    const hasNoNetwork = isGone || /network of a non running container/.test(message)
    if (!hasNoNetwork || !hasHolder(release.workload)) throw error
    // Docker writes down the id of the container whose network is joined.
    if (isGone) await removeContainer(host.daemon, id, signal)
    await prepareTask(host, release, run, attempt)
    await startContainer(host.daemon, taskName(run), signal)
  }
}

/** Engine.endTask for Docker. The network is there until the program has ended. */
export async function endTask({ daemon, instance }: Host, run: string, { signal }: Attempt): Promise<void> {
  await daemon.patiently(signal, async () => {
    const found = await listContainers(daemon, { instance, labels: { [label.run]: run } }, signal)
    for (const { Id, State, Labels } of found.toSorted(
      (one, other) => Number(isHolder(one)) - Number(isHolder(other)),
    )) {
      const mayMind = State === 'running' && Labels[label.holder] === undefined
      if (mayMind) await stopContainer(daemon, { id: Id, graceSeconds: taskGraceSeconds }, signal)
      await removeContainer(daemon, Id, signal)
    }
  })
}

export const isTask = ({ Labels }: ContainerInfo): boolean => Labels[label.run] !== undefined

export const isHolder = ({ Labels }: Pick<ContainerInfo, 'Labels'>): boolean => Labels[label.holder] !== undefined

export async function listTasks({ daemon, instance }: Host, signal: AbortSignal): Promise<RunningTask[]> {
  const found = await listContainers(daemon, { instance }, signal)
  const byRun = Map.groupBy(found.filter(isTask), ({ Labels }) => Labels[label.run] ?? '')
  return [...byRun].map(([run, containers]) => ({
    run,
    service: containers[0]?.Labels[label.service] ?? '',
    running: containers.some((one) => !isHolder(one) && (one.State === 'running' || one.State === 'paused')),
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

const leftOf = ({ clock }: Host, { workload }: Release<Task>, { startedAt }: ReplicaState): number =>
  workload.timeoutSeconds * 1000 - (startedAt ? clock.now().getTime() - Date.parse(startedAt) : 0)

/** The daemon tells of the end; now and then we look by ourselves. */
const longestWaitMs = 30_000

/** Whoever asks later than the end of its time ends it then. */
async function untilEnded(
  host: Host,
  release: Release<Task>,
  { run, leftMs: firstMs }: { readonly run: string; readonly leftMs: number },
  signal: AbortSignal,
): Promise<ReplicaState> {
  const { daemon } = host
  const name = taskName(run)
  for (let leftMs = firstMs; ; ) {
    if (leftMs > 0) await untilStopped(host, name, Math.min(leftMs, longestWaitMs), signal)
    else {
      const container = { id: name, graceSeconds: taskGraceSeconds }
      await daemon.patiently(signal, () => stopContainer(daemon, container, signal))
    }
    const state = await daemon.patiently(signal, () => look(host, run, signal))
    if (state.status === 'exited') return state
    leftMs = leftOf(host, release, state)
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
