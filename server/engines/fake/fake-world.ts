import type { Clock } from '../../lib/clock.ts'
import { type DiskSpace, EngineError, type ShellWish } from '../engine.ts'
import { type Behaviour, type Effects, noEffects } from './fake-behaviour.ts'
import { FakeImages } from './fake-images.ts'
import { FakeOutput } from './fake-output.ts'
import { FakeReplicas, hasPort } from './fake-replicas.ts'
import { FakeTasks } from './fake-tasks.ts'
import { FakeVolumes } from './fake-volumes.ts'

/** The state of the engine in memory, and what a test may do to it behind the platform's back. */
export class FakeWorld {
  readonly effects: Effects = noEffects()
  /** False: every call fails as if the machine were gone, and nothing changes. */
  reachable = true
  /** Images, and their registry. */
  readonly images = new FakeImages()
  /** The contents of volumes, for tests to read and change. */
  readonly volumes = new FakeVolumes()
  /** The capacity of its disk; undefined: unknown. */
  space: DiskSpace | undefined = { totalBytes: 1_000_000, freeBytes: 500_000, totalInodes: 1000, freeInodes: 500 }
  /**
   * Bytes written into volumes, by id, and outside them by replicas, by name, and by runs of tasks.
   */
  readonly written = new Map<string, { readonly bytes: number; readonly files?: number }>()
  /** Commands that were run in terminals. */
  readonly shells: (ShellWish & { readonly service: string })[] = []
  protected readonly replicas: FakeReplicas
  protected readonly tasks: FakeTasks
  protected readonly output: FakeOutput
  protected readonly networks = new Set<string>()
  protected readonly used = new Map<string, { readonly cpuMilli?: number; readonly memoryMiB?: number }>()
  readonly #behaviours = new Map<string, Behaviour>()

  /** `address` is the address of all endpoints; by default nothing answers there. */
  constructor({ clock, address = '192.0.2.1' }: { readonly clock: Clock; readonly address?: string }) {
    const { effects } = this
    this.output = new FakeOutput(clock)
    this.replicas = new FakeReplicas({
      ...{ clock, address, effects, output: this.output },
      reach: (signal) => this.reach(signal),
    })
    this.tasks = new FakeTasks(clock, (release, run, text) => this.output.printOf(release, run, text))
  }

  /** Sets the behaviour of releases of this image. */
  behave(image: string, behaviour: Behaviour): void {
    this.#behaviours.set(image, behaviour)
  }

  /** Prints a line from every replica of the service. */
  print(service: string, text: string): void {
    for (const replica of this.replicas.of(service)) this.output.print(replica, text)
  }

  /** Removes a replica behind the platform's back. */
  drop(name: string): void {
    this.replicas.drop(name)
  }

  /** Returns how often a program of a task was begun. */
  get tasksBegun(): number {
    return this.tasks.begun
  }

  /** Ends the program of the task now. */
  finishTask(run: string, exitCode = 0): void {
    this.tasks.finish(run, exitCode)
  }

  /** Sets the usage of every replica of the service. */
  use(service: string, used: { readonly cpuMilli?: number; readonly memoryMiB?: number }): void {
    this.used.set(service, used)
  }

  /** Returns whether a running replica has this port of the machine. */
  publishes(hostPort: number): boolean {
    return this.replicas.all.some(({ running, workload }) => running && hasPort(workload, hostPort))
  }

  /** Makes the service's replicas exit repeatedly from now on. */
  crash(service: string, exitCode = 1): void {
    for (const replica of this.replicas.of(service)) {
      this.replicas.stop(replica)
      Object.assign(replica, { exits: replica.exits + 3, exitCode })
    }
  }

  protected reach(signal: AbortSignal): void {
    signal.throwIfAborted()
    if (!this.reachable)
      throw new EngineError('unreachable', 'the engine does not answer; check the machine it runs on')
  }

  /**
   * Returns the behaviour of an image that the engine has. Releases name digests, tests name tags.
   */
  protected behaviourOf(image: string): Behaviour {
    const behaviour = this.named(image) ?? this.named(this.images.tagOf(image) ?? '') ?? {}
    if (behaviour.outcome === 'image-missing')
      throw new EngineError('image-missing', `the engine has no image ${image}`)
    return behaviour
  }

  protected readonly named = (image: string): Behaviour | undefined => this.#behaviours.get(image)

  protected makeNetwork(environment: string): void {
    if (!this.networks.has(environment)) this.effects.networksMade++
    this.networks.add(environment)
  }
}
