import type { Clock } from '../../lib/clock.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { masker } from '../../lib/masker.ts'
import { type Endpoint, EngineError, type LongRunning, type Release, type Starting, secretsIn } from '../engine.ts'
import type { Behaviour, Effects } from './fake-behaviour.ts'
import type { FakeOutput } from './fake-output.ts'
import type { FakeReplica } from './fake-replica.ts'

interface Options {
  readonly clock: Clock
  /** The address of all endpoints. */
  readonly address: string
  readonly effects: Effects
  readonly output: FakeOutput
  /** Throws while the engine is away. */
  reach(signal: AbortSignal): void
}

/** The replicas of the engine in memory, oldest first. */
export class FakeReplicas {
  readonly #options: Options
  #all: readonly FakeReplica[] = []

  constructor(options: Options) {
    this.#options = options
  }

  get all(): readonly FakeReplica[] {
    return this.#all
  }

  readonly of = (service: string): FakeReplica[] => this.#all.filter((replica) => replica.service === service)
  readonly ofRelease = (release: string): FakeReplica[] => this.#all.filter((replica) => replica.release === release)

  /** Returns the replica of that name, or any, if it is running. */
  running(service: string, name: string | undefined): FakeReplica {
    const replica = this.of(service).find((one) => one.running && (name === undefined || one.name === name))
    if (replica) return replica
    throw new EngineError('refused', `no replica ${name ?? ''} of the service is running; start it first`)
  }

  /** Removes a replica behind the engine's back. */
  drop(name: string): void {
    this.#all = this.#all.filter((replica) => replica.name !== name)
  }

  remove(leaving: readonly FakeReplica[]): void {
    this.#all = this.#all.filter((replica) => !leaving.includes(replica))
    this.#options.effects.removed += leaving.length
  }

  end(service: string, leaves: (replica: FakeReplica) => boolean): void {
    const leaving = this.of(service).filter(leaves)
    if (leaving.length === 0) return
    for (const replica of leaving) this.stop(replica)
    failpoint('retire.stopped')
    this.remove(leaving)
  }

  /** Ends its program. */
  stop(replica: FakeReplica): void {
    Object.assign(replica, { running: false, finishedAt: this.#options.clock.now() })
  }

  /** Throws if another release uses a port of the machine. */
  claimPorts({ id, workload }: Release): void {
    for (const { hostPort } of workload.publishedPorts ?? []) {
      if (!this.#all.some((replica) => replica.release !== id && hasPort(replica.workload, hostPort))) continue
      throw new EngineError('refused', `port ${hostPort} of the machine is in use by another program; stop it`)
    }
  }

  /** Starts as many replicas as the release wants, and waits until they are healthy. */
  async startReplicas(release: Release, behaviour: Behaviour, { signal, whenBegun }: Starting): Promise<Endpoint[]> {
    const { replicas, startDeadlineSeconds } = release.workload
    for (const number of this.#numbers(release, Math.max(1, replicas.min)))
      this.#bring(release, number, behaviour, whenBegun)
    const began = Math.min(...this.ofRelease(release.id).map(({ createdMs }) => createdMs))
    await this.#untilHealthy(release, behaviour, { deadlineMs: began + startDeadlineSeconds * 1000, signal })
    failpoint('engine.healthy')
    return this.ofRelease(release.id).flatMap((replica) => replica.endpoints)
  }

  /** Returns the existing indexes, then the lowest free ones; removes replicas above the count. */
  #numbers(release: Release, count: number): number[] {
    const own = this.ofRelease(release.id)
    const there = own.map(({ name }) => Number(name.split('-').at(-1)))
    this.remove(own.slice(count))
    const free = Array.from({ length: count }, (_, index) => index + 1).filter((number) => !there.includes(number))
    return [...there, ...free].slice(0, count)
  }

  #bring(release: Release, number: number, behaviour: Behaviour, whenBegun?: () => void): void {
    const name = `${release.service}-${release.id.slice(-8)}-${number}`
    const replica = this.#all.find((one) => one.name === name) ?? this.#create(release, name)
    if (replica.running) return
    whenBegun?.()
    replica.running = true
    replica.startedAt = this.#options.clock.now()
    for (const text of behaviour.lines ?? []) this.#options.output.print(replica, text)
    failpoint('engine.started')
  }

  #create({ id, service, environment, workload }: Release, name: string): FakeReplica {
    const { address, clock, effects } = this.#options
    const endpoints = workload.ports.map(({ internalPort }) => ({ replica: name, port: internalPort, address }))
    const replica = {
      ...{ name, release: id, service, environment, workload, endpoints },
      createdMs: clock.monotonic(),
      ...{ running: false, ...never, exits: 0, exitCode: undefined, outOfMemory: false, lines: [] },
    }
    this.#all = [...this.#all, replica]
    effects.created++
    failpoint('engine.created')
    return replica
  }

  async #untilHealthy(
    release: Release,
    behaviour: Behaviour,
    limit: { readonly deadlineMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock, reach } = this.#options
    const { outcome = 'healthy', healthyAfterMs = 0, exitCode = 1 } = behaviour
    const leftMs = Math.max(0, limit.deadlineMs - clock.monotonic())
    if (outcome === 'crashes') throw this.#failed(release, 'crashed', `exited with code ${exitCode} three times`)
    if (outcome === 'out-of-memory') throw this.#failed(release, 'out-of-memory', 'ran out of memory; give it more')
    const isLate = outcome === 'never-ready' || healthyAfterMs > leftMs
    if (isLate || healthyAfterMs > 0) {
      await clock.sleep(isLate ? leftMs : healthyAfterMs, limit.signal).catch((error) => {
        limit.signal.throwIfAborted()
        throw error
      })
    }
    const seconds = release.workload.startDeadlineSeconds
    if (isLate) throw this.#failed(release, 'not-ready', `did not become ready within ${seconds} s; check its port`)
    reach(limit.signal)
  }

  #failed(release: Release, reason: 'crashed' | 'out-of-memory' | 'not-ready', what: string): EngineError {
    const replicas = this.ofRelease(release.id)
    const printed = (replicas[0]?.lines ?? []).slice(-20).map((line) => line.text)
    const lastLines = printed.map(masker(secretsIn(release.workload)))
    this.remove(replicas)
    return new EngineError(reason, `replica 1 ${what}`, { lastLines })
  }
}

const never = { startedAt: undefined, finishedAt: undefined }

export const hasPort = ({ publishedPorts = [] }: LongRunning, wanted: number): boolean =>
  publishedPorts.some(({ hostPort }) => hostPort === wanted)
