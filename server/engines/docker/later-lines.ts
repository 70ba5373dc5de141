import type { Clock } from '../../lib/clock.ts'
import type { LogLine } from '../engine.ts'
import { Channel } from './channel.ts'
import type { ContainerEvent, Events } from './events.ts'
import { label } from './labels.ts'

/** A container that may print. */
export interface Printed {
  readonly id: string
  /** Its name. */
  readonly replica: string
  readonly release: string
  readonly isUp: boolean
  /** Whether its program was ever started: else it has printed nothing. */
  readonly hasBegun: boolean
}

interface Source {
  readonly clock: Clock
  readonly events: Pick<Events, 'listen'>
  readonly service: string
  /** The containers of the service as they are now. */
  look(): Promise<readonly Printed[]>
  /** What one of them prints, until it ends; with `follow`, as it comes. */
  read(container: Printed, follow: boolean): AsyncIterable<LogLine>
}

/** Lines that wait until somebody takes them. */
const mostWaiting = 1_000
/** After the end of a container's output, until it is looked at again. */
const settleMs = 250
const retryMs = 1_000
/** A daemon that was restarted calls a container ended before it has written its last lines. */
const lastReads = 2

/**
 * Keeps one reader for every container of a service. A reader ends with its container, or when the
 * line to the daemon breaks; what the daemon tells of starts and ends brings readers back at the
 * line after the last one given. It listens from its making on, so that a look at the containers
 * which is begun later is complete.
 */
export class LaterLines {
  readonly #source: Source
  readonly #signal: AbortSignal
  readonly #lines: Channel<LogLine>
  readonly #reading = new Set<string>()
  /** How many reads to the end brought no line, one after the other. */
  readonly #emptyReads = new Map<string, number>()
  readonly stop: () => void
  #hasBegun = false
  /** Something happened before the begin. */
  #isStale = false

  constructor(source: Source, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
    this.#lines = new Channel(mostWaiting, signal)
    this.stop = source.events.listen(source.service, (event) => this.#hear(event))
  }

  /** Reads on where these containers were read to; they were looked at after this was made. */
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

  /** Whether a container that has ended is worth no further read. */
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
      // Removed meanwhile, or the line broke: the next look tells.
    }
    this.#reading.delete(id)
    // It may have started again before its old output came to an end, and that event is over.
    await this.#attachAfter(pauseMs)
  }
}

/**
 * The container that the daemon says was started just now; none where it only holds a network,
 * which prints nothing.
 */
function begun({ container, attributes }: ContainerEvent): readonly Printed[] {
  if (attributes[label.holder] !== undefined) return []
  const { name = container, [label.release]: release = '' } = attributes
  return [{ id: container, replica: name, release, isUp: true, hasBegun: true }]
}
