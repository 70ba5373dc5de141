import type { Duplex } from 'node:stream'
import { type AddressGuard, createAddressGuard } from '../../lib/address.ts'
import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { machine } from '../../lib/machine.ts'
import {
  type Endpoint,
  type Engine,
  type EngineCapabilities,
  type EngineCapacity,
  EngineError,
  type Finding,
  type LogLine,
  type LogQuery,
  type MachineReport,
  type NetworkGuards,
  type Observation,
  type Release,
  type ReplicaUsage,
  type RunningTask,
  type ShellWish,
  type Starting,
  type Task,
  type TaskFile,
  type TaskOutcome,
  type Terminal,
} from '../engine.ts'
import { execIn } from './container-output.ts'
import { inspectContainer, listContainers } from './containers.ts'
import type { ContainerInfo } from './docker-api.ts'
import { createDockerHost } from './docker-host.ts'
import { DockerStorage } from './docker-storage.ts'
import { guardNetworks, removeGuards } from './guard-networks.ts'
import { type InstallationThings, listInstallation, removeInstallation } from './installation.ts'
import { KnownStates } from './known-states.ts'
import { label } from './labels.ts'
import { followRestarts } from './lifecycle.ts'
import { Liveness } from './liveness.ts'
import { serviceLogs } from './logs.ts'
import { Looks } from './looks.ts'
import { ensureNetwork, eraseNetwork, listNetworks } from './networks.ts'
import { toObservation } from './observation.ts'
import { readMachine } from './read-machine.ts'
import { createRegistries } from './registry/registries.ts'
import type { ReplicaState } from './replica-state.ts'
import { endReplicas, retireService } from './retire.ts'
import { connectTo, openTerminal } from './shell.ts'
import { startRelease } from './start.ts'
import { readTaskFile } from './task-end.ts'
import { endTask, isTask, listTasks, prepareTask, runTask, stopTask } from './tasks.ts'
import { UntilEvent } from './until-event.ts'
import { Usage } from './usage.ts'
import { eraseVolumes } from './volumes.ts'

export interface DockerEngineOptions {
  /** Path of the daemon's unix socket. */
  readonly socketPath: string
  /** Name of this installation: two on one host never see each other's containers. */
  readonly instance: string
  readonly clock: Clock
  readonly log?: Pick<Logger, 'warn'>
  /** The largest fetched image to keep; without it there is no limit. */
  readonly maxImageBytes?: number
  /**
   * The disk space that a fetch or a copy of volumes must leave free; by default a twentieth of the
   * disk, at most 10 GiB.
   */
  readonly floorBytes?: number | undefined
  /** Decides which registries may be asked; without it, only registries at public addresses. */
  readonly guard?: AddressGuard
  /**
   * The directory for parts of images until the engine has them, used by this engine alone. By
   * default that of the machine.
   */
  readonly spoolDirectory?: string
  /** Whether an image of an engine of stacks is configured. */
  readonly runsStacks?: boolean
}

const capabilitiesOf = (runsStacks: boolean): EngineCapabilities => ({
  description: 'a Docker Engine, which runs applications, containers, databases and jobs',
  shapes: new Set(['long-running', 'task', ...(runsStacks ? ['stack' as const] : [])]),
  settings: new Set(['read-only-root', 'lifecycle-commands', 'canary']),
  images: 'shared',
  publishesPorts: true,
  scalesByLoad: false,
  events: 'cool-down',
  measuresDisk: true,
})

/**
 * Runs workloads as containers of one Docker daemon on this host. Keeps nothing in memory that a
 * restart must not lose.
 */
export class DockerEngine extends DockerStorage implements Engine {
  readonly capabilities: EngineCapabilities
  readonly capacity: EngineCapacity = machine
  readonly #liveness: Liveness
  readonly #usage: Usage
  readonly #looks: Looks
  readonly #followed: UntilEvent<string[]>

  constructor({ socketPath, instance, clock, log, runsStacks = false, ...images }: DockerEngineOptions) {
    const known = new KnownStates()
    const host = createDockerHost({ socketPath, instance, clock, log, known })
    const { daemon, events } = host
    const usual = { guard: createAddressGuard({ allowedPrivateCidrs: [] }), maxImageBytes: Number.POSITIVE_INFINITY }
    super(host, createRegistries({ daemon, clock, ...usual, ...images }))
    this.capabilities = capabilitiesOf(runsStacks)
    this.#looks = new Looks(host, known)
    this.#liveness = new Liveness({ daemon, clock, instance, events })
    this.#followed = new UntilEvent({ clock, events })
    this.#usage = new Usage({ daemon, clock })
  }

  async prepareEnvironment(environment: string, { signal }: Attempt): Promise<void> {
    await this.host.daemon.patiently(signal, () => ensureNetwork(this.host, environment, signal))
  }

  start(release: Release, attempt: Starting): Promise<Endpoint[]> {
    return this.#changing(startRelease(this.host, release, attempt))
  }

  guardNetworks(wanted: NetworkGuards, signal: AbortSignal): Promise<boolean> {
    return guardNetworks(this.host, wanted, signal)
  }

  /** See removeGuards. */
  removeGuards(options: Parameters<typeof removeGuards>[1], signal: AbortSignal): Promise<string[]> {
    return removeGuards(this.host, options, signal)
  }

  /** See listInstallation. */
  listInstallation(services: readonly string[], signal: AbortSignal): Promise<InstallationThings> {
    return listInstallation(this.host, services, signal)
  }

  /** See removeInstallation. */
  removeInstallation(things: Omit<InstallationThings, 'isShared'>, signal: AbortSignal): Promise<void> {
    return removeInstallation(this.host, things, signal)
  }

  prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
    return prepareTask(this.host, release, run, attempt)
  }

  runTask(release: Release<Task>, run: string, attempt: Parameters<Engine['runTask']>[2]): Promise<TaskOutcome> {
    return runTask(this.host, release, run, attempt)
  }

  stopTask(release: Release<Task>, run: string, attempt: Attempt): Promise<TaskOutcome | undefined> {
    return stopTask(this.host, release, run, attempt)
  }

  readTaskFile(release: Release<Task>, run: string, path: string, signal: AbortSignal): Promise<TaskFile | undefined> {
    return readTaskFile(this.host, release, { run, path }, signal)
  }

  /** Does nothing: a container that has ended reserves nothing. */
  async freeTask(): Promise<void> {}

  endTask(run: string, attempt: Attempt): Promise<void> {
    return endTask(this.host, run, attempt)
  }

  listTasks(signal: AbortSignal): Promise<RunningTask[]> {
    return listTasks(this.host, signal)
  }

  async observe(service: string, signal: AbortSignal): Promise<Observation> {
    const found = await this.#list({ [label.service]: service }, signal)
    return toObservation(await this.#inspectAll(found, signal), this.host.clock.now())
  }

  observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>> {
    const list = async () => {
      const found = await this.#list({}, signal)
      this.#usage.keepOnly(new Set(found.map(({ Id }) => Id)))
      return found
    }
    return this.#looks.all(list, signal)
  }

  retire(service: string, keep: string | undefined, attempt: Attempt): Promise<void> {
    return this.#changing(retireService(this.host, service, keep, attempt.signal))
  }

  endReplicas(service: string, replicas: readonly string[], attempt: Attempt): Promise<void> {
    return this.#changing(endReplicas(this.host, service, new Set(replicas), attempt.signal))
  }

  async erase(service: string, { signal }: Attempt): Promise<void> {
    await retireService(this.host, service, undefined, signal)
    await this.host.daemon.patiently(signal, () => eraseVolumes(this.host, service, signal))
  }

  eraseEnvironment(environment: string, { signal }: Attempt): Promise<void> {
    return this.host.daemon.patiently(signal, () => eraseNetwork(this.host, environment, signal))
  }

  listEnvironments(signal: AbortSignal): Promise<readonly string[]> {
    return this.host.daemon.patiently(signal, () => listNetworks(this.host, signal))
  }

  logs(service: string, query: LogQuery, signal: AbortSignal): AsyncIterable<LogLine> {
    return serviceLogs(this.host, service, query, signal)
  }

  async exec(
    service: string,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ exitCode: number; output: string }> {
    return execIn(this.host.daemon, await this.#running(service, undefined, signal), command, signal)
  }

  async shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal> {
    return openTerminal(this.host, await this.#running(service, wish.replica, signal), wish, signal)
  }

  async connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex> {
    return connectTo(this.host, await this.#running(service, replica, signal), port, signal)
  }

  async usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]> {
    const found = await this.#list({ [label.service]: service }, signal)
    const running = found.filter(({ State }) => State === 'running')
    return this.#usage.of(
      running.map(({ Id, Names }) => ({ id: Id, name: Names[0]?.replace(/^\//, '') ?? Id })),
      signal,
    )
  }

  async machines(signal: AbortSignal): Promise<MachineReport[]> {
    return [await readMachine(this.host.daemon, signal)]
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.host.daemon.send({ method: 'GET', path: '/_ping', signal, timeoutMs: 5_000 })
  }

  async report(): Promise<undefined> {}

  /** Empty: `npm run doctor` checks the machine. */
  async listFindings(): Promise<readonly Finding[]> {
    return []
  }

  /** The machine of the platform never leaves; `npm run uninstall` removes what is on it. */
  async eraseAll(): Promise<never> {
    throw new EngineError('refused', 'the machine of the platform is built in; run npm run uninstall instead')
  }

  /** Changes nothing: containers are the same in all versions. */
  async renewEnvironment(): Promise<string[]> {
    return []
  }

  checkLiveness(signal: AbortSignal): Promise<string[]> {
    return this.#liveness.check(signal)
  }

  async followRestarts(signal: AbortSignal): Promise<string[]> {
    const { value: problems, isReused } = await this.#followed.get(() => followRestarts(this.host, signal))
    return isReused ? [] : problems
  }

  /** Observations from before its end are outdated. */
  #changing<T>(work: Promise<T>): Promise<T> {
    return work.finally(() => this.host.events.happened())
  }

  /** Returns the container of this replica, or of the service's newest one, if it is running. */
  async #running(service: string, replica: string | undefined, signal: AbortSignal): Promise<string> {
    const found = await this.#list({ [label.service]: service }, signal)
    const isWanted = ({ Names }: ContainerInfo): boolean => replica === undefined || Names.includes(`/${replica}`)
    // The list is newest first.
    const container = found.find((one) => one.State === 'running' && isWanted(one))
    if (container) return container.Id
    const what = replica === undefined ? 'no replica of the service' : `no replica ${replica} of the service`
    throw new EngineError('refused', `${what} is running; start it first`)
  }

  /** Lists the containers of services, without tasks, builders and helpers of copies. */
  async #list(labels: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ContainerInfo[]> {
    const found = await listContainers(this.host.daemon, { instance: this.host.instance, labels }, signal)
    return found.filter((container) => !isTask(container) && container.Labels[label.service] !== undefined)
  }

  async #inspectAll(found: readonly ContainerInfo[], signal: AbortSignal): Promise<ReplicaState[]> {
    const states = await Promise.all(found.map(({ Id }) => inspectContainer(this.host.daemon, Id, signal)))
    return states.filter((state) => state !== undefined)
  }
}
