import type { Attempt } from '../../lib/attempt.ts'
import { machine } from '../../lib/machine.ts'
import type {
  Endpoint,
  Engine,
  EngineCapabilities,
  EngineCapacity,
  EngineReport,
  Finding,
  Observation,
  Release,
  RunningTask,
  Starting,
  Task,
  TaskOutcome,
} from '../engine.ts'
import { FakeInside } from './fake-inside.ts'
import { observationOf } from './fake-replica.ts'

/**
 * An engine in memory that passes the same suite as the real ones and misbehaves on demand. It
 * keeps its world as long as the object lives, so a test may restart the platform around it.
 */
export class FakeEngine extends FakeInside implements Engine {
  capabilities: EngineCapabilities = {
    description: 'a Docker Engine, which runs applications, containers, databases and jobs',
    shapes: new Set(['long-running', 'task']),
    settings: new Set(['read-only-root', 'lifecycle-commands', 'canary']),
    images: 'shared',
    publishesPorts: true,
    scalesByLoad: false,
    events: 'cool-down',
    measuresDisk: true,
  }
  capacity: EngineCapacity = machine

  async start(release: Release, attempt: Starting): Promise<Endpoint[]> {
    this.reach(attempt.signal)
    const behaviour = this.behaviourOf(release.workload.image)
    this.replicas.claimPorts(release)
    this.makeNetwork(release.environment)
    for (const { id } of release.workload.storage) {
      if (this.volumes.make(id, release.service)) this.effects.volumesMade++
    }
    return this.replicas.startReplicas(release, behaviour, attempt)
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

  async stopTask(_: Release<Task>, run: string, attempt: Attempt): Promise<TaskOutcome | undefined> {
    this.reach(attempt.signal)
    return this.tasks.stop(run, attempt.signal)
  }

  async readTaskFile(release: Release<Task>, run: string, path: string, signal: AbortSignal) {
    this.reach(signal)
    return this.tasks.read(release, run, path)
  }

  async freeTask(_: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
  }

  async endTask(run: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.tasks.remove((task) => task.run === run)
  }

  async listTasks(signal: AbortSignal): Promise<RunningTask[]> {
    this.reach(signal)
    return this.tasks.list()
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

  async prepareEnvironment(environment: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.makeNetwork(environment)
  }

  async eraseEnvironment(environment: string, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    if (this.replicas.all.some((replica) => replica.environment === environment)) return
    if (this.tasks.isIn(environment)) return
    if (this.networks.delete(environment)) this.effects.networksRemoved++
  }

  async listEnvironments(signal: AbortSignal): Promise<readonly string[]> {
    this.reach(signal)
    return [...this.networks]
  }

  async ping(signal: AbortSignal): Promise<void> {
    this.reach(signal)
  }

  /** The report that a test sets. */
  reported: EngineReport | undefined

  async report(): Promise<EngineReport | undefined> {
    return this.reported
  }

  /** The findings that a test sets. */
  findings: readonly Finding[] = []

  async listFindings(signal: AbortSignal): Promise<readonly Finding[]> {
    this.reach(signal)
    return this.findings
  }

  /** How often everything was erased. */
  departures = 0

  async eraseAll(attempt: Attempt): Promise<string[]> {
    this.reach(attempt.signal)
    this.departures++
    return []
  }

  /** The releases of each environment that was renewed, in order. */
  readonly renewed: { readonly environment: string; readonly releases: readonly string[] }[] = []

  async renewEnvironment(
    environment: string,
    releases: () => Promise<readonly Release[]>,
    attempt: Attempt,
  ): Promise<string[]> {
    this.reach(attempt.signal)
    this.renewed.push({ environment, releases: (await releases()).map(({ id }) => id) })
    return []
  }

  /** Does nothing: this engine restarts nothing, and has no machine to guard. */
  async checkLiveness(): Promise<string[]> {
    return []
  }

  async followRestarts(): Promise<string[]> {
    return []
  }

  async guardNetworks(): Promise<boolean> {
    return false
  }
}
