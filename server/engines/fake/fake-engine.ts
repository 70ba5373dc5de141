import type { Duplex } from 'node:stream'
import type { Attempt } from '../../lib/attempt.ts'
import { Secret } from '../../lib/secret.ts'
import {
  type CopyLimits,
  type Endpoint,
  type Engine,
  type EngineDisk,
  EngineError,
  type LogLine,
  type LogQuery,
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
  type Workload,
} from '../engine.ts'
import { observationOf } from './fake-replica.ts'
import { fakeConnection, fakeTerminal } from './fake-shell.ts'
import { FakeWorld } from './fake-world.ts'

/**
 * An engine in memory that passes the same suite as the real ones and misbehaves on demand. It keeps its world for as long as the object
 * lives, so a test may start the platform anew round it. Inside a replica `exec` knows `printenv NAME`, `cat PATH` and `exit CODE`.
 */
export class FakeEngine extends FakeWorld implements Engine {
  readonly shapes: ReadonlySet<Workload['shape']> = new Set(['long-running', 'task'])

  async start(release: Release, { signal }: Attempt): Promise<Endpoint[]> {
    this.reach(signal)
    const behaviour = this.behaviourOf(release.workload.image)
    this.replicas.claimPorts(release)
    this.makeNetwork(release.environment)
    for (const { id } of release.workload.storage) {
      if (this.volumes.make(id, release.service)) this.effects.volumesMade++
    }
    return this.replicas.bringUp(release, behaviour, signal)
  }

  /** Every registry has every image, but those that are to be missing. */
  async pinImage(image: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<PinnedImage> {
    this.reach(attempt.signal)
    return this.images.pin(image, this.named(image)?.outcome === 'image-missing', login, attempt)
  }

  async fetchImage(reference: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.images.fetch(reference, login)
  }

  async prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    const behaviour = this.behaviourOf(release.workload.image)
    this.makeNetwork(release.environment)
    this.tasks.prepare(release, run, behaviour.task ?? {})
  }

  async runTask(_: Release<Task>, run: string, attempt: Parameters<Engine['runTask']>[2]): Promise<TaskOutcome> {
    this.reach(attempt.signal)
    const outcome = await this.tasks.run(run, attempt)
    this.reach(attempt.signal)
    return outcome
  }

  async endTask(run: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.tasks.remove((task) => task.run === run)
  }

  async listTasks(signal: AbortSignal): Promise<RunningTask[]> {
    this.reach(signal)
    return this.tasks.list()
  }

  async disk(signal: AbortSignal): Promise<EngineDisk> {
    this.reach(signal)
    const volumes = this.volumes.ids().map((id) => ({ id, bytes: 1000 }))
    return this.images.disk(volumes)
  }

  async removeImage(reference: string, signal: AbortSignal): Promise<boolean> {
    this.reach(signal)
    if (this.replicas.all.some(({ workload }) => workload.image === reference)) return false
    this.images.remove(reference)
    return true
  }

  async trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number> {
    this.reach(signal)
    return this.images.trimCache(keepBytes)
  }

  async observe(service: string, signal: AbortSignal): Promise<Observation> {
    this.reach(signal)
    return observationOf(this.replicas.of(service))
  }

  async observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>> {
    this.reach(signal)
    const services = new Set(this.replicas.all.map((replica) => replica.service))
    return new Map([...services].map((service) => [service, observationOf(this.replicas.of(service))]))
  }

  async retire(service: string, keep: string | undefined, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.tasks.remove((task) => task.service === service && task.release !== keep)
    this.replicas.end(service, (replica) => replica.release !== keep)
  }

  async endReplicas(service: string, replicas: readonly string[], attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.replicas.end(service, ({ name }) => replicas.includes(name))
  }

  async erase(service: string, attempt: Attempt): Promise<void> {
    await this.retire(service, undefined, attempt)
    this.effects.volumesRemoved += this.volumes.removeOf(service)
  }

  async copyVolumes(copies: readonly VolumeCopy[], limits: CopyLimits, attempt: Attempt): Promise<number> {
    this.reach(attempt.signal)
    const { bytes, made } = await this.volumes.copy(copies, limits)
    this.reach(attempt.signal)
    this.effects.volumesMade += made
    return bytes
  }

  /** Nothing ever stands still here. */
  async resume(signal: AbortSignal): Promise<string[]> {
    this.reach(signal)
    return []
  }

  async eraseEnvironment(environment: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    if (this.replicas.all.some((replica) => replica.environment === environment)) return
    if (this.tasks.isIn(environment)) return
    if (this.networks.delete(environment)) this.effects.networksRemoved++
  }

  async *logs(service: string, query: LogQuery, signal: AbortSignal): AsyncGenerator<LogLine> {
    this.reach(signal)
    yield* this.output.logs(service, () => this.replicas.of(service), query, signal)
  }

  async exec(
    service: string,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ exitCode: number; output: string }> {
    this.reach(signal)
    const { variables, files } = this.replicas.running(service, undefined).workload
    const [program, argument = ''] = command
    const found = program === 'printenv' ? variables[argument] : files.find(({ path }) => path === argument)?.content
    if (program === 'exit') return { exitCode: Number(argument), output: '' }
    if (found === undefined) return { exitCode: 1, output: '' }
    return { exitCode: 0, output: found instanceof Secret ? found.reveal() : found }
  }

  async shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal> {
    this.reach(signal)
    this.replicas.running(service, wish.replica)
    this.shells.push({ service, ...wish })
    return fakeTerminal(wish, signal)
  }

  async connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex> {
    this.reach(signal)
    const { workload } = this.replicas.running(service, replica)
    if (workload.ports.some(({ internalPort }) => internalPort === port)) return fakeConnection(signal)
    throw new EngineError('refused', `nothing listens on port ${port} of the replica`)
  }

  async usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]> {
    this.reach(signal)
    const { cpuMilli = 0, memoryMiB = 1 } = this.used.get(service) ?? {}
    return this.replicas
      .of(service)
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
    this.reach(signal)
  }
}
