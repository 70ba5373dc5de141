import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { type Endpoint, EngineError, type LongRunning, type Release } from '../engine.ts'
import { containerSpec } from './container-spec.ts'
import { createContainer, inspectContainer, listContainers, removeContainer, startContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import { writeFiles } from './files.ts'
import { label } from './labels.ts'
import { ensureNetwork } from './networks.ts'
import { type Operation, plan } from './plan.ts'
import { endpointsOf, type ReplicaState, toStatus } from './replica-state.ts'
import { ensureVolumes } from './volumes.ts'
import { untilHealthy } from './wait-healthy.ts'

export interface Host {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
  /** Whether the daemon has a `docker-init` to reap the processes that a program leaves behind. */
  hasInit(signal: AbortSignal): Promise<boolean>
  /** Ids of the containers of tasks that this process itself has made. */
  readonly madeTasks: Set<string>
}

/** The deadline counts from the first start of the release. A late caller still gets some time to find a healthy release healthy. */
export function leftMs({ startDeadlineSeconds }: Pick<LongRunning, 'startDeadlineSeconds'>, ageMs: number): number {
  const deadlineMs = startDeadlineSeconds * 1000
  return Math.min(deadlineMs, Math.max(deadlineMs - ageMs, 5_000))
}

/**
 * Engine.start for Docker. A failure of the workload takes away again what this call brought, not the replicas that ran before it; a daemon
 * that is away, or an abort, leaves what is there.
 */
export async function startRelease(host: Host, release: Release, attempt: Attempt): Promise<Endpoint[]> {
  const running = new Set<string>()
  try {
    return await bringUp(host, release, running, attempt)
  } catch (error) {
    attempt.signal.throwIfAborted()
    if (!(error instanceof EngineError) || error.reason === 'unreachable') throw error
    await clear(host, release, running, attempt)
    throw error
  }
}

/** Adds to `running` the containers of the release that run already. */
async function bringUp(
  host: Host,
  release: Release,
  running: Set<string>,
  { signal, output }: Attempt,
): Promise<Endpoint[]> {
  const { daemon, clock, instance } = host
  const filter = { instance, labels: { [label.release]: release.id } }
  const [found, withInit] = await daemon.patiently(signal, () =>
    Promise.all([
      listContainers(daemon, filter, signal),
      host.hasInit(signal),
      ensureNetwork(host, release.environment, signal),
      ensureVolumes(daemon, instance, release, signal),
    ]),
  )
  for (const { Id, State } of found) if (toStatus(State) === 'running') running.add(Id)
  const startedAt = Math.min(clock.now().getTime(), ...found.map(({ Created }) => Created * 1000))
  const deadlineMs = clock.monotonic() + leftMs(release.workload, clock.now().getTime() - startedAt)
  const operations = plan(
    found.map((container) => ({
      id: container.Id,
      release: container.Labels[label.release] ?? '',
      replica: Number(container.Labels[label.replica]),
      status: toStatus(container.State),
    })),
    release,
  )
  const containers = await execute(host, release, { operations, withInit }, { signal, output })
  const replicas = await allHealthy(host, release, { containers, deadlineMs }, { signal, output })
  failpoint('engine.healthy')
  output.line(containers.length === 1 ? 'The replica is healthy' : `All ${containers.length} replicas are healthy`)
  return replicas.flatMap(endpointsOf)
}

/** Gives the ids of the containers that make up the release. Waits for every operation, so that a failure leaves none on its way. */
async function execute(
  host: Host,
  release: Release,
  work: { readonly operations: readonly Operation[]; readonly withInit: boolean },
  attempt: Attempt,
): Promise<string[]> {
  const removals = work.operations.filter((operation) => operation.do === 'remove')
  await everyOne(removals.map(({ container }) => removeContainer(host.daemon, container, attempt.signal)))
  return everyOne(
    work.operations
      .filter((operation) => operation.do !== 'remove')
      .map((operation) =>
        host.daemon.patiently(attempt.signal, () => perform(host, release, { ...work, operation }, attempt)),
      ),
  )
}

async function perform(
  { daemon, instance }: Host,
  release: Release,
  work: { readonly operation: Exclude<Operation, { do: 'remove' }>; readonly withInit: boolean },
  { signal, output }: Attempt,
): Promise<string> {
  const { operation } = work
  if (operation.do === 'adopt') return operation.container
  let container: string
  if (operation.do === 'create') {
    const spec = containerSpec(release, operation.replica, { instance, withInit: work.withInit })
    container = await createContainer(daemon, { name: operation.name, spec, output }, signal)
    failpoint('engine.created')
  } else {
    container = operation.container
  }
  await writeFiles(daemon, container, release.workload.files, signal)
  await startContainer(daemon, container, signal)
  failpoint('engine.started')
  return container
}

/** A replica that was healthy first may have died while the others were waited for: then it is waited for again. */
async function allHealthy(
  { daemon, clock }: Host,
  release: Release,
  work: { readonly containers: readonly string[]; readonly deadlineMs: number },
  { signal: outer, output }: Attempt,
): Promise<ReplicaState[]> {
  const group = new AbortController()
  const signal = AbortSignal.any([outer, group.signal])
  const wait = { daemon, clock, workload: release.workload, deadlineMs: work.deadlineMs, signal, output }
  try {
    for (;;) {
      const healthy = await Promise.all(work.containers.map((container) => untilHealthy({ ...wait, container })))
      const now = await daemon.patiently(signal, () =>
        everyOne(work.containers.map((id) => inspectContainer(daemon, id, signal))),
      )
      const isSame = (was: ReplicaState, index: number): boolean =>
        now[index]?.running === true && now[index].startedAt === was.startedAt
      if (healthy.every(isSame)) return healthy
    }
  } finally {
    group.abort()
  }
}

async function clear(host: Host, release: Release, kept: ReadonlySet<string>, { output }: Attempt): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  try {
    const found = await listContainers(
      host.daemon,
      { instance: host.instance, labels: { [label.release]: release.id } },
      signal,
    )
    const brought = found.filter(({ Id }) => !kept.has(Id))
    await everyOne(brought.map(({ Id }) => removeContainer(host.daemon, Id, signal)))
  } catch (error) {
    output.line(`What is left of the failed release could not be removed yet: ${messageOf(error)}`, 'warning')
  }
}

/** Like Promise.all, but rejects only when nothing is under way any more. */
export async function everyOne<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}
