import type { Attempt } from '../../lib/attempt.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { EngineError, type Release, type RunningTask, type Task, type TaskOutcome } from '../engine.ts'
import { taskSpec } from './container-spec.ts'
import {
  inspectContainer,
  listContainers,
  removeContainer,
  removeUnstarted,
  startContainer,
  stopContainer,
} from './containers.ts'
import type { ContainerInfo } from './docker-api.ts'
import { writeFiles } from './files.ts'
import { refuseForgedLabels } from './forged-labels.ts'
import { label, taskName } from './labels.ts'
import { ensureHolder, hasHolder } from './network-holder.ts'
import { ensureNetwork } from './networks.ts'
import { placesToWrite } from './read-only-root.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Host } from './start.ts'
import { leftOf, look, outcomeOf, untilEnded } from './task-end.ts'
import { outputDirectories } from './task-output.ts'

/**
 * Engine.prepareTask for Docker: creates the container of the run, with its files. A container that
 * runs or has ended is kept.
 */
export async function prepareTask(host: Host, release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
  const { daemon, instance } = host
  const { signal, output } = attempt
  const withHolder = hasHolder(release.workload)
  await daemon.patiently(signal, async () => {
    const [withInit, there] = await Promise.all([
      host.hasInit(signal),
      listContainers(daemon, { instance, labels: { [label.run]: run } }, signal),
      ensureNetwork(host, release.environment, signal),
    ])
    // Somebody renamed the container. The free name must not let the run start a second time.
    const isRenamed = ({ Names, State }: ContainerInfo) => !Names.includes(`/${taskName(run)}`) && State !== 'removing'
    if (there.some((one) => !isHolder(one) && isRenamed(one))) return
    if (withHolder) await ensureHolder(host, release, run, attempt)
    const spec = taskSpec(release, run, { instance, withInit, withHolder })
    const create = { name: taskName(run), spec, output, made: host.madeTasks }
    const container = await host.layers.create(release.workload, create, signal)
    failpoint('task.created')
    const state = await inspectContainer(daemon, container, signal)
    if (state?.status !== 'created') return
    await refuseForgedLabels(daemon, { container, set: spec.Labels }, signal)
    const { files, inputFiles = [] } = release.workload
    const places = placesToWrite(release.workload)
    const openDirectories = outputDirectories(release.workload)
    await writeFiles(daemon, container, { files: [...files, ...inputFiles], openDirectories, places }, signal)
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
  const state = await daemon.patiently(signal, () => own(host, release, run, attempt))
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

/**
 * Returns the container of the run. Recreates one that another process has created and not started:
 * that process may be suspended and would start it later, even after the run's end. Docker lets
 * only one of the two win: its start finds no such container, or we find it started.
 */
async function own(host: Host, release: Release<Task>, run: string, attempt: Attempt): Promise<ReplicaState> {
  const { signal } = attempt
  const state = await look(host, run, signal)
  if (state.status !== 'created' || host.madeTasks.has(state.id)) return state
  if (await removeUnstarted(host.daemon, state.id, signal)) await prepareTask(host, release, run, attempt)
  return look(host, run, signal)
}

/**
 * Starts the container of a run. If somebody ended or removed its network holder, recreates the
 * holder and then this container.
 */
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
    // The container stores the id of the holder that it joins.
    if (isGone) await removeUnstarted(host.daemon, id, signal)
    await prepareTask(host, release, run, attempt)
    const made = await look(host, run, signal)
    if (made.status === 'created') await startContainer(host.daemon, made.id, signal)
  }
}

/** Engine.stopTask for Docker. */
export async function stopTask(
  host: Host,
  release: Release<Task>,
  run: string,
  { signal }: Attempt,
): Promise<TaskOutcome | undefined> {
  const { daemon } = host
  const state = await daemon.patiently(signal, () => look(host, run, signal))
  if (state.status === 'created') return undefined
  const container = { id: state.id, graceSeconds: release.workload.stopGraceSeconds }
  if (state.status !== 'exited') await daemon.patiently(signal, () => stopContainer(daemon, container, signal))
  const ended = await untilEnded(host, release, { run, leftMs: leftOf(host, release, state) }, signal)
  return outcomeOf(host, release, ended, signal)
}

/** Engine.endTask for Docker. The network is kept until the program has ended. */
export async function endTask(host: Host, run: string, { signal }: Attempt): Promise<void> {
  const { daemon, instance } = host
  await daemon.patiently(signal, async () => {
    const found = await listContainers(daemon, { instance, labels: { [label.run]: run } }, signal)
    for (const { Id, State, Labels } of found.toSorted(
      (one, other) => Number(isHolder(one)) - Number(isHolder(other)),
    )) {
      const mayMind = State === 'running' && Labels[label.holder] === undefined
      host.madeTasks.delete(Id)
      if (mayMind)
        await stopContainer(daemon, { id: Id, graceSeconds: Number(Labels[label.stopGraceSeconds] ?? 10) }, signal)
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
