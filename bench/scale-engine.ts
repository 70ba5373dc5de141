import { FakeEngine, type Observation, type Release, type Starting } from '../server/engines/index.ts'
import { systemClock } from '../server/lib/clock.ts'

/**
 * An engine in memory that reports like that of a cluster: the same map again until something
 * happened. It remembers when it was last asked to start each service.
 */
export class ScaleEngine extends FakeEngine {
  override capabilities = { ...new FakeEngine({ clock: systemClock }).capabilities, measuresDisk: false }
  /** The times of the last starts, in milliseconds since 1970, by service. */
  readonly startedAt = new Map<string, number>()
  /** How often all services were observed. */
  looks = 0
  #seen: ReadonlyMap<string, Observation> | undefined

  override async start(release: Release, attempt: Starting) {
    this.startedAt.set(release.service, Date.now())
    this.#seen = undefined
    return super.start(release, attempt).finally(() => {
      this.#seen = undefined
    })
  }

  override async retire(...given: Parameters<FakeEngine['retire']>) {
    this.#seen = undefined
    return super.retire(...given)
  }

  override async endReplicas(...given: Parameters<FakeEngine['endReplicas']>) {
    this.#seen = undefined
    return super.endReplicas(...given)
  }

  /** Does nothing if the service is on another engine. */
  override crash(service: string): void {
    if (this.replicas.of(service).length === 0) return
    this.#seen = undefined
    super.crash(service)
  }

  override async observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>> {
    this.looks++
    this.#seen ??= await super.observeAll(signal)
    return this.#seen
  }
}
