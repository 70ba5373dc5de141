import type { Duplex } from 'node:stream'
import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { Secret } from '../../lib/secret.ts'
import {
  type Endpoint,
  type Engine,
  type EngineDisk,
  EngineError,
  type LogLine,
  type LogQuery,
  type LongRunning,
  type Observation,
  type PinnedImage,
  type RegistryLogin,
  type Release,
  type ReplicaUsage,
  type RunningTask,
  type ShellWish,
  type Task,
  type TaskOutcome,
  type Terminal,
  type VolumeCopy,
  type VolumeOwner,
  type Workload,
} from '../engine.ts'
import { FakeImages } from './fake-images.ts'
import { type FakeReplica, observationOf } from './fake-replica.ts'
import { fakeConnection, fakeTerminal } from './fake-shell.ts'
import { FakeTasks, type TaskBehaviour } from './fake-tasks.ts'
import { FakeVolumes } from './fake-volumes.ts'

/** How every release of an image behaves. Absent: it is healthy at once. */
export interface Behaviour {
  readonly outcome?: 'healthy' | 'crashes' | 'out-of-memory' | 'never-ready' | 'image-missing'
  /** A slow start. */
  readonly healthyAfterMs?: number
  readonly exitCode?: number
  /** What it prints when it starts. */
  readonly lines?: readonly string[]
  /** As a task. */
  readonly task?: TaskBehaviour
}

/** How often something was really done, as opposed to found done. */
export interface Effects {
  created: number
  removed: number
  volumesMade: number
  volumesRemoved: number
  networksMade: number
  networksRemoved: number
}

/**
 * An engine in memory that passes the same suite as the real ones and misbehaves on demand. It keeps its world for as long as the object
 * lives, so a test may start the platform anew round it. Inside a replica `exec` knows `printenv NAME`, `cat PATH` and `exit CODE`.
 */
export class FakeEngine implements Engine {
  readonly shapes: ReadonlySet<Workload['shape']> = new Set(['long-running', 'task'])
  readonly effects: Effects = {
    created: 0,
    removed: 0,
    volumesMade: 0,
    volumesRemoved: 0,
    networksMade: 0,
    networksRemoved: 0,
  }
  /** False: every call fails as if the machine were gone, and nothing changes. */
  reachable = true
  /** Images, and the registry that they come from. */
  readonly images = new FakeImages()
  readonly #clock: Clock
  readonly #address: string
  /** What was asked to run in terminals. */
  readonly shells: (ShellWish & { readonly service: string })[] = []
  readonly #tasks: FakeTasks
  readonly #used = new Map<string, { readonly cpuMilli?: number; readonly memoryMiB?: number }>()
  readonly #behaviours = new Map<string, Behaviour>()
  #replicas: FakeReplica[] = []
  /** What volumes hold, for tests to look at and to change. */
  readonly volumes = new FakeVolumes()
  readonly #networks = new Set<string>()
  /** By service; what was printed stays, whatever becomes of the task. */
  readonly #taskLines = new Map<string, LogLine[]>()
  #printed = Promise.withResolvers<void>()
  #lineNumber = 0

  /** `address` is where all endpoints point; by default one that answers nobody. */
  constructor(options: { readonly clock: Clock; readonly address?: string }) {
    this.#clock = options.clock
    this.#address = options.address ?? '192.0.2.1'
    this.#tasks = new FakeTasks(options.clock, (release, run, text) => this.#printOf(release, run, text))
  }

  /** From now on releases of this image behave so. */
  behave(image: string, behaviour: Behaviour): void {
    this.#behaviours.set(image, behaviour)
  }

  /** Every replica of the service prints a line. */
  print(service: string, text: string): void {
    for (const replica of this.#of(service)) this.#print(replica, text)
  }

  /** Somebody removes a replica behind the platform's back. */
  drop(name: string): void {
    this.#replicas = this.#replicas.filter((replica) => replica.name !== name)
  }

  /** How often a program of a task was begun. */
  get tasksBegun(): number {
    return this.#tasks.begun
  }

  /** The program of a task ends now. */
  finishTask(run: string, exitCode = 0): void {
    this.#tasks.finish(run, exitCode)
  }

  /** Every replica of the service uses so much from now on. */
  use(service: string, used: { readonly cpuMilli?: number; readonly memoryMiB?: number }): void {
    this.#used.set(service, used)
  }

  /** Whether a replica that runs has this port of the machine. */
  publishes(hostPort: number): boolean {
    return this.#replicas.some(({ running, workload }) => running && hasPort(workload, hostPort))
  }

  /** The service's replicas exit again and again from now on. */
  crash(service: string, exitCode = 1): void {
    for (const replica of this.#of(service))
      Object.assign(replica, { running: false, exits: replica.exits + 3, exitCode })
  }

  async start(release: Release, attempt: Attempt): Promise<Endpoint[]> {
    this.#reach(attempt.signal)
    const { image, startDeadlineSeconds, replicas, storage } = release.workload
    const behaviour = this.#behaviourOf(image)
    if (behaviour.outcome === 'image-missing')
      throw new EngineError('image-missing', `the engine has no image ${image}`)
    this.#claimPorts(release)
    if (!this.#networks.has(release.environment)) this.effects.networksMade++
    this.#networks.add(release.environment)
    for (const { id } of storage) {
      if (this.volumes.make(id, release.service)) this.effects.volumesMade++
    }
    for (const number of this.#numbers(release, Math.max(1, replicas.min))) this.#bring(release, number, behaviour)
    const began = Math.min(...this.#ofRelease(release.id).map(({ createdMs }) => createdMs))
    await this.#untilHealthy(release, behaviour, {
      deadlineMs: began + startDeadlineSeconds * 1000,
      signal: attempt.signal,
    })
    failpoint('engine.healthy')
    return this.#ofRelease(release.id).flatMap((replica) => replica.endpoints)
  }

  /** Every registry has every image, but those that are to be missing. */
  async pinImage(image: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<PinnedImage> {
    this.#reach(attempt.signal)
    return this.images.pin(image, this.#behaviours.get(image)?.outcome === 'image-missing', login, attempt)
  }

  async fetchImage(reference: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<void> {
    this.#reach(attempt.signal)
    this.images.fetch(reference, login)
  }

  async prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
    this.#reach(attempt.signal)
    const { image } = release.workload
    const behaviour = this.#behaviourOf(image)
    if (behaviour.outcome === 'image-missing')
      throw new EngineError('image-missing', `the engine has no image ${image}`)
    if (!this.#networks.has(release.environment)) this.effects.networksMade++
    this.#networks.add(release.environment)
    this.#tasks.prepare(release, run, behaviour.task ?? {})
  }

  async runTask(_release: Release<Task>, run: string, attempt: Attempt): Promise<TaskOutcome> {
    this.#reach(attempt.signal)
    const outcome = await this.#tasks.run(run, attempt.signal)
    this.#reach(attempt.signal)
    return outcome
  }

  async endTask(run: string, attempt: Attempt): Promise<void> {
    this.#reach(attempt.signal)
    this.#tasks.remove((task) => task.run === run)
  }

  async listTasks(signal: AbortSignal): Promise<RunningTask[]> {
    this.#reach(signal)
    return this.#tasks.list()
  }

  async disk(signal: AbortSignal): Promise<EngineDisk> {
    this.#reach(signal)
    const volumes = this.volumes.ids().map((id) => ({ id, bytes: 1000 }))
    return this.images.disk(volumes)
  }

  async removeImage(reference: string, signal: AbortSignal): Promise<boolean> {
    this.#reach(signal)
    if (this.#replicas.some(({ workload }) => workload.image === reference)) return false
    this.images.remove(reference)
    return true
  }

  async trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number> {
    this.#reach(signal)
    return this.images.trimCache(keepBytes)
  }

  async observe(service: string, signal: AbortSignal): Promise<Observation> {
    this.#reach(signal)
    return observationOf(this.#of(service))
  }

  async observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>> {
    this.#reach(signal)
    const services = new Set(this.#replicas.map((replica) => replica.service))
    return new Map([...services].map((service) => [service, observationOf(this.#of(service))]))
  }

  async retire(service: string, keep: string | undefined, attempt: Attempt): Promise<void> {
    this.#reach(attempt.signal)
    this.#tasks.remove((task) => task.service === service && task.release !== keep)
    await this.#end(service, attempt, (replica) => replica.release !== keep)
  }

  endReplicas(service: string, replicas: readonly string[], attempt: Attempt): Promise<void> {
    return this.#end(service, attempt, ({ name }) => replicas.includes(name))
  }

  async #end(service: string, attempt: Attempt, leaves: (replica: FakeReplica) => boolean): Promise<void> {
    this.#reach(attempt.signal)
    const leaving = this.#of(service).filter(leaves)
    if (leaving.length === 0) return
    for (const replica of leaving) replica.running = false
    failpoint('retire.stopped')
    this.#remove(leaving)
  }

  async erase(service: string, attempt: Attempt): Promise<void> {
    await this.retire(service, undefined, attempt)
    this.effects.volumesRemoved += this.volumes.removeOf(service)
  }

  async copyVolumes(copies: readonly VolumeCopy[], owner: VolumeOwner, attempt: Attempt): Promise<number> {
    this.#reach(attempt.signal)
    const { bytes, made } = await this.volumes.copy(copies, owner.service)
    this.#reach(attempt.signal)
    this.effects.volumesMade += made
    return bytes
  }

  /** Nothing ever stands still here. */
  async resume(signal: AbortSignal): Promise<string[]> {
    this.#reach(signal)
    return []
  }

  async eraseEnvironment(environment: string, attempt: Attempt): Promise<void> {
    this.#reach(attempt.signal)
    if (this.#replicas.some((replica) => replica.environment === environment)) return
    if (this.#tasks.isIn(environment)) return
    if (this.#networks.delete(environment)) this.effects.networksRemoved++
  }

  async *logs(service: string, query: LogQuery, signal: AbortSignal): AsyncGenerator<LogLine> {
    this.#reach(signal)
    let after = query.after ?? ''
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    while (!signal.aborted) {
      const more = this.#printed.promise
      const printed = [
        ...this.#of(service).flatMap((replica) => replica.lines),
        ...(this.#taskLines.get(service) ?? []),
      ]
      const lines = printed.filter((line) => line.at > after)
      for (const line of lines.sort((a, b) => a.at.localeCompare(b.at))) {
        if (signal.aborted) return
        after = line.at
        yield line
      }
      if (!query.follow) return
      await Promise.race([more, ended])
    }
  }

  async exec(
    service: string,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ exitCode: number; output: string }> {
    this.#reach(signal)
    const { variables, files } = this.#running(service, undefined).workload
    const [program, argument = ''] = command
    const found = program === 'printenv' ? variables[argument] : files.find(({ path }) => path === argument)?.content
    if (program === 'exit') return { exitCode: Number(argument), output: '' }
    if (found === undefined) return { exitCode: 1, output: '' }
    return { exitCode: 0, output: found instanceof Secret ? found.reveal() : found }
  }

  async shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal> {
    this.#reach(signal)
    this.#running(service, wish.replica)
    this.shells.push({ service, ...wish })
    return fakeTerminal(wish, signal)
  }

  async connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex> {
    this.#reach(signal)
    const { workload } = this.#running(service, replica)
    if (workload.ports.some(({ internalPort }) => internalPort === port)) return fakeConnection(signal)
    throw new EngineError('refused', `nothing listens on port ${port} of the replica`)
  }

  async usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]> {
    this.#reach(signal)
    const { cpuMilli = 0, memoryMiB = 1 } = this.#used.get(service) ?? {}
    return this.#of(service)
      .filter(({ running }) => running)
      .map(({ name, workload }) => ({
        replica: name,
        cpuMilli,
        cpuLimitMilli: workload.cpuMilli,
        memoryMiB,
        memoryLimitMiB: workload.memoryMiB,
      }))
  }

  async ping(signal: AbortSignal): Promise<void> {
    this.#reach(signal)
  }

  #running(service: string, name: string | undefined): FakeReplica {
    const replica = this.#of(service).find((one) => one.running && (name === undefined || one.name === name))
    if (replica) return replica
    throw new EngineError('refused', `no replica ${name ?? ''} of the service is running; start it first`)
  }

  #reach(signal: AbortSignal): void {
    signal.throwIfAborted()
    if (!this.reachable)
      throw new EngineError('unreachable', 'the engine does not answer; check the machine it runs on')
  }

  /** Those that are there, then the lowest free ones; what is beyond the count goes. */
  #numbers(release: Release, count: number): number[] {
    const own = this.#ofRelease(release.id)
    const there = own.map(({ name }) => Number(name.split('-').at(-1)))
    this.#remove(own.slice(count))
    const free = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !there.includes(number))
    return [...there, ...free].slice(0, count)
  }

  #claimPorts({ id, workload }: Release): void {
    for (const { hostPort } of workload.publishedPorts ?? []) {
      if (!this.#replicas.some((replica) => replica.release !== id && hasPort(replica.workload, hostPort))) continue
      throw new EngineError('refused', `port ${hostPort} of the machine is in use by another program; end it`)
    }
  }

  #bring(release: Release, number: number, behaviour: Behaviour): void {
    const name = `${release.service}-${release.id.slice(-8)}-${number}`
    let replica = this.#replicas.find((one) => one.name === name)
    if (!replica) {
      replica = {
        name,
        release: release.id,
        service: release.service,
        environment: release.environment,
        workload: release.workload,
        createdMs: this.#clock.monotonic(),
        running: false,
        exits: 0,
        exitCode: undefined,
        outOfMemory: false,
        endpoints: release.workload.ports.map(({ internalPort }) => ({
          replica: name,
          port: internalPort,
          address: this.#address,
        })),
        lines: [],
      }
      this.#replicas.push(replica)
      this.effects.created++
      failpoint('engine.created')
    }
    if (replica.running) return
    replica.running = true
    for (const text of behaviour.lines ?? []) this.#print(replica, text)
    failpoint('engine.started')
  }

  async #untilHealthy(
    release: Release,
    behaviour: Behaviour,
    limit: { readonly deadlineMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { outcome = 'healthy', healthyAfterMs = 0, exitCode = 1 } = behaviour
    const leftMs = Math.max(0, limit.deadlineMs - this.#clock.monotonic())
    if (outcome === 'crashes') throw this.#failed(release, 'crashed', `exited with code ${exitCode} three times`)
    if (outcome === 'out-of-memory') throw this.#failed(release, 'out-of-memory', 'ran out of memory; give it more')
    const isLate = outcome === 'never-ready' || healthyAfterMs > leftMs
    if (isLate || healthyAfterMs > 0) {
      await this.#clock.sleep(isLate ? leftMs : healthyAfterMs, limit.signal).catch((error) => {
        limit.signal.throwIfAborted()
        throw error
      })
    }
    const seconds = release.workload.startDeadlineSeconds
    if (isLate) throw this.#failed(release, 'not-ready', `did not become ready within ${seconds} s; check its port`)
    this.#reach(limit.signal)
  }

  #failed(release: Release, reason: 'crashed' | 'out-of-memory' | 'not-ready', what: string): EngineError {
    const replicas = this.#ofRelease(release.id)
    const lastLines = (replicas[0]?.lines ?? []).slice(-20).map((line) => line.text)
    this.#remove(replicas)
    return new EngineError(reason, `replica 1 ${what}`, { lastLines })
  }

  #remove(leaving: readonly FakeReplica[]): void {
    this.#replicas = this.#replicas.filter((replica) => !leaving.includes(replica))
    this.effects.removed += leaving.length
  }

  #print(replica: FakeReplica, text: string): void {
    replica.lines.push(this.#line(replica.name, replica.release, text))
    this.#tell()
  }

  #printOf({ id, service }: Release<Task>, run: string, text: string): void {
    this.#taskLines.set(service, [...(this.#taskLines.get(service) ?? []), this.#line(run, id, text)])
    this.#tell()
  }

  #line(replica: string, release: string, text: string): LogLine {
    // Nanoseconds that only grow, whatever the clock does: the number of the line takes the place of the lower digits.
    const at = this.#clock
      .now()
      .toISOString()
      .replace('Z', `${String(++this.#lineNumber % 1_000_000).padStart(6, '0')}Z`)
    return { at, replica, release, stream: 'stdout', text }
  }

  #tell(): void {
    const { resolve } = this.#printed
    this.#printed = Promise.withResolvers()
    resolve()
  }

  /** Releases name digests, tests name tags. */
  #behaviourOf(image: string): Behaviour {
    return this.#behaviours.get(image) ?? this.#behaviours.get(this.images.tagOf(image) ?? '') ?? {}
  }

  readonly #of = (service: string): FakeReplica[] => this.#replicas.filter((replica) => replica.service === service)
  readonly #ofRelease = (release: string): FakeReplica[] =>
    this.#replicas.filter((replica) => replica.release === release)
}

const hasPort = ({ publishedPorts = [] }: LongRunning, wanted: number): boolean =>
  publishedPorts.some(({ hostPort }) => hostPort === wanted)
