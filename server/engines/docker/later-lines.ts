import type { Clock } from '../../lib/clock.ts'
import { Channel } from '../channel.ts'
import type { LogLine } from '../engine.ts'
import type { ContainerEvent, Events } from './events.ts'
import { label } from './labels.ts'

/** A container whose output is read. */
export interface Printed {
  readonly id: string
  /** Its name. */
  readonly replica: string
  readonly release: string
  readonly isUp: boolean
  /** Whether its program has ever started. Without a start there is no output. */
  readonly hasBegun: boolean
}

interface Source {
  readonly clock: Clock
  readonly events: Pick<Events, 'listen'>
  readonly service: string
  /** Lists the containers of the service as they are now. */
  look(): Promise<readonly Printed[]>
  /** Reads the output of a container until now, or until it ends with `follow`. */
  read(container: Printed, follow: boolean): AsyncIterable<LogLine>
}

/** The most lines that wait for the consumer. */
const mostWaiting = 1_000
/** The pause between the end of a container's output and the next look at it. */
const settleMs = 250
const retryMs = 1_000
/** After a restart, Docker reports a container as ended before it has written its last lines. */
const lastReads = 2

/**
 * Keeps one reader for each container of a service. A reader ends with its container, or when the
 * connection to the daemon breaks. Events of starts and ends create it again, after the last line
 * that was returned. Events are recorded from the constructor on, so a later look at the containers
 * misses nothing.
 */
export class LaterLines {
  readonly #source: Source
  readonly #signal: AbortSignal
  readonly #lines: Channel<LogLine>
  readonly #reading = new Set<string>()
  /** The number of consecutive reads to the end that returned no line, by container. */
  readonly #emptyReads = new Map<string, number>()
  readonly stop: () => void
  #hasBegun = false
  /** An event arrived before reading began. */
  #isStale = false

  constructor(source: Source, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
    this.#lines = new Channel(mostWaiting, signal)
    this.stop = source.events.listen(source.service, (event) => this.#hear(event))
  }

  /** Continues reading these containers. They must be listed after this object was created. */
  async *from(seen: readonly Printed[]): AsyncGenerator<LogLine> {
    this.#hasBegun = true
    if (this.#isStale) await this.#attach()
    else this.#readAll(seen)
    yield* this.#lines
  }

  #hear(event: ContainerEvent | undefined): void {
    if (event && event.action !== 'start' && event.action !== 'die') return
    if (!this.#hasBegun) this.#isStale = true
    else if (event?.action === 'start') this.#readAll(begun(event))
    else void this.#attach()
  }

  async #attach(): Promise<void> {
    const containers = await this.#source.look().catch(() => undefined)
    if (containers) this.#readAll(containers)
    else await this.#attachAfter(retryMs)
  }

  #attachAfter(ms: number): Promise<void> {
    return this.#source.clock.sleep(ms, this.#signal).then(
      () => this.#attach(),
      () => {},
    )
  }

  #readAll(containers: readonly Printed[]): void {
    for (const container of containers) {
      const { id, isUp, hasBegun } = container
      if (!hasBegun || this.#reading.has(id) || (!isUp && this.#isFinished(id))) continue
      if (isUp) this.#emptyReads.delete(id)
      void this.#readOne(container)
    }
  }

  /** Whether a container has ended and needs no further read. */
  #isFinished(id: string): boolean {
    return (this.#emptyReads.get(id) ?? 0) >= lastReads
  }

  async #readOne(container: Printed): Promise<void> {
    const { id } = container
    this.#reading.add(id)
    let isEmpty = true
    let pauseMs = settleMs
    try {
      for await (const line of this.#source.read(container, true)) {
        isEmpty = false
        await this.#lines.push(line)
      }
      this.#emptyReads.set(id, isEmpty ? (this.#emptyReads.get(id) ?? 0) + 1 : 0)
      if (isEmpty && !this.#isFinished(id)) pauseMs = retryMs
    } catch {
      // The container was removed or the connection broke. The next look shows which.
    }
    this.#reading.delete(id)
    // It may have started again before its old output ended, and that event has passed.
    await this.#attachAfter(pauseMs)
  }
}

/**
 * Returns the container that an event reports as started. Empty for a container that only holds a
 * network, which prints nothing.
 */
function begun({ container, attributes }: ContainerEvent): readonly Printed[] {
  if (attributes[label.holder] !== undefined) return []
  const { name = container, [label.release]: release = '' } = attributes
  return [{ id: container, replica: name, release, isUp: true, hasBegun: true }]
}
