import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { everyOne } from '../../lib/every-one.ts'
import { failpoint } from '../../lib/failpoint.ts'
import type { Slots } from '../../lib/slots.ts'
import { type Endpoint, EngineError, type Release, type Starting } from '../engine.ts'
import { leftMs } from '../health.ts'
import { allHealthy } from './all-healthy.ts'
import { containerSpec } from './container-spec.ts'
import { listContainers, removeContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import type { Events } from './events.ts'
import { writeFiles } from './files.ts'
import { refuseForgedLabels } from './forged-labels.ts'
import { containerName, label } from './labels.ts'
import type { LayerLimits } from './layer-limits.ts'
import { type PostStarted, runPostStart } from './lifecycle.ts'
import { makeInTurn } from './make-in-turn.ts'
import { ensureNetwork, joinNetwork } from './networks.ts'
import { type Operation, plan, toFound } from './plan.ts'
import { placesToWrite } from './read-only-root.ts'
import { endpointsOf, toStatus } from './replica-state.ts'
import { startOrReplace } from './start-or-replace.ts'
import { undoChanges } from './undo-changes.ts'
import { ensureVolumes } from './volumes.ts'

export interface Host {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
  readonly events: Events
  /** Whether the daemon has a `docker-init` to reap orphaned processes. */
  hasInit(signal: AbortSignal): Promise<boolean>
  readonly layers: LayerLimits
  /** Ids of the task containers that this process has created. */
  readonly madeTasks: Set<string>
  readonly postStarted: PostStarted
  /** The queue for creating containers. */
  readonly making: Slots
  /** Networks that this process is creating, by environment. */
  readonly networksToCome: Map<string, Promise<string>>
}

/** The conditions under which containers are created. */
interface Ground {
  readonly withInit: boolean
  /** Id of the environment's network. */
  readonly network: string
  /** Whether the release began so recently that its start may have been interrupted. */
  readonly isYoung: boolean
}

/**
 * Engine.start for Docker. If the workload fails, removes the containers that this call created but
 * not the replicas that already ran. If the daemon is away or the call is aborted, removes nothing.
 */
export async function startRelease(host: Host, release: Release, attempt: Starting): Promise<Endpoint[]> {
  const running = new Set<string>()
  try {
    return await startReplicas(host, release, running, attempt)
  } catch (error) {
    attempt.signal.throwIfAborted()
    if (!(error instanceof EngineError) || error.reason === 'unreachable') throw error
    await clear(host, release, running, attempt)
    throw error
  }
}

/** Adds the containers of the release that already run to `running`. */
async function startReplicas(
  host: Host,
  release: Release,
  running: Set<string>,
  attempt: Starting,
): Promise<Endpoint[]> {
  const { signal, output } = attempt
  const { daemon, clock, instance } = host
  const filter = { instance, labels: own(release) }
  const [found, withInit, network] = await daemon.patiently(signal, () =>
    Promise.all([
      listContainers(daemon, filter, signal),
      host.hasInit(signal),
      ensureNetwork(host, release.environment, signal),
      ensureVolumes(daemon, instance, release, signal),
    ]),
  )
  for (const { Id, State } of found) if (toStatus(State) === 'running') running.add(Id)
  const nowMs = clock.now().getTime()
  const startedAt = Math.min(nowMs, ...found.map(({ Created }) => Created * 1000))
  const deadlineMs = clock.monotonic() + leftMs(release.workload, nowMs - startedAt)
  const isYoung = nowMs - startedAt < release.workload.startDeadlineSeconds * 1000
  const operations = plan(
    found.map((container) => toFound(container, network)),
    release,
  )
  const containers = await execute(host, release, { operations, withInit, network, isYoung }, attempt)
  const replicas = await allHealthy(host, release, { containers, deadlineMs }, { signal, output })
  failpoint('engine.healthy')
  output.line(containers.length === 1 ? 'The replica is healthy' : `All ${containers.length} replicas are healthy`)
  return replicas.flatMap(endpointsOf)
}

/** Another service may run the same release as a trial, so both labels are needed. */
const own = ({ id, service }: Release) => ({ [label.release]: id, [label.service]: service })

/**
 * Returns the ids of the release's containers. Waits for every operation, so that none is still
 * running after a failure.
 */
async function execute(
  host: Host,
  release: Release,
  work: Ground & { readonly operations: readonly Operation[] },
  attempt: Starting,
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
  host: Host,
  release: Release,
  work: Ground & { readonly operation: Exclude<Operation, { do: 'remove' }> },
  { signal, output, whenBegun }: Starting,
): Promise<string> {
  const { daemon, instance } = host
  const { operation, network } = work
  if (operation.do !== 'create') await undoChanges(host, release, operation.container, { signal, output })
  if (operation.do === 'join') {
    const { container, replica } = operation
    output.line(`Replica ${replica} was disconnected from its network; it is being reconnected`, 'warning')
    await joinNetwork(daemon, network, { container, aliases: release.workload.aliases }, signal)
  }
  if (operation.do === 'adopt' || operation.do === 'join') {
    if (work.isYoung) await runPostStart(host, operation.container, release.workload, signal)
    return operation.container
  }
  const { workload } = release
  const mounted = { files: workload.files, places: placesToWrite(workload) }
  const spec = containerSpec(release, operation.replica, { instance, withInit: work.withInit })
  const prepare = async (made: string): Promise<void> => {
    await refuseForgedLabels(daemon, { container: made, set: spec.Labels }, signal)
    await writeFiles(daemon, made, mounted, signal)
  }
  const create = async (): Promise<string> => {
    const name = containerName(release, operation.replica)
    const made = await makeInTurn(host, signal, () => host.layers.create(workload, { name, spec, output }, signal))
    failpoint('engine.created')
    await prepare(made)
    return made
  }
  const container = operation.do === 'create' ? await create() : operation.container
  if (operation.do === 'start') await prepare(container)
  whenBegun?.()
  const started = await startOrReplace(daemon, container, { makeAgain: create, signal })
  failpoint('engine.started')
  await runPostStart(host, started, workload, signal)
  return started
}

async function clear(host: Host, release: Release, kept: ReadonlySet<string>, { output }: Attempt): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  try {
    const found = await listContainers(host.daemon, { instance: host.instance, labels: own(release) }, signal)
    const brought = found.filter(({ Id }) => !kept.has(Id))
    await everyOne(brought.map(({ Id }) => removeContainer(host.daemon, Id, signal)))
  } catch (error) {
    output.line(`The rest of the failed release could not be removed yet: ${messageOf(error)}`, 'warning')
  }
}
