import type { LogLine, LogSource } from '../engines/engine.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { markerLine, type NewLine, type StoredLine, type StreamKey, storedText } from './line.ts'
import { LineBudget } from './line-budget.ts'
import type { LineStore } from './line-store.ts'
import { ResumePoint, resumeLines } from './resume-point.ts'

export interface CollectorOptions {
  /** Returns the source of a service's lines: the engine of its cluster. */
  readonly sourceOf: (service: string) => Promise<LogSource>
  readonly store: Pick<LineStore, 'append' | 'tail'>
  readonly clock: Clock
  readonly log: Logger
  /**
   * Stored lines of one service per second on average. Default 20,000. The rest is dropped and
   * counted.
   */
  readonly linesPerSecond?: number
}

/**
 * Hides secrets in every text before it is stored. A secret that the application splits over lines
 * is not found.
 */
export type Mask = (text: string) => string

/** The mask for the secrets of one release. */
export interface ReleaseMask {
  readonly release: string
  readonly mask: Mask
}

/** While one version follows another, both print, and one may print the secrets of the other. */
const mostMasks = 4

const firstBackOffMs = 250
const longestBackOffMs = 15_000
/** After this many lines without a pause other work gets its turn. */
const linesPerTurn = 256

/** Lines of requests come from a router, which does not repeat them. */
const isFromEngine = (line: StoredLine): boolean => line['origin'] === undefined

/**
 * Carries the lines of one service from the engine to the store. It attaches again whenever the
 * engine ends.
 */
export class ServiceFeed {
  readonly #options: CollectorOptions
  readonly #service: string
  readonly #key: StreamKey
  readonly #budget: LineBudget
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>
  /** By release, the oldest first. */
  readonly #masks = new Map<string, Mask>()
  #source: LogSource | undefined
  #backOff = new AbortController()
  #backOffMs = firstBackOffMs
  #dropped = 0
  #droppedAt = ''

  constructor(
    options: CollectorOptions & {
      readonly service: string
      readonly mask: ReleaseMask | undefined
      /** The previous feed of the same service, while it is ending. */
      readonly startAfter: Promise<void> | undefined
    },
  ) {
    this.#options = options
    this.#service = options.service
    this.#key = `service/${options.service}`
    this.#keep(options.mask)
    this.#budget = new LineBudget(options.linesPerSecond ?? 20_000, options.clock.monotonic())
    this.#ended = this.#collect(options.startAfter)
  }

  /** Ends a pause between two attempts, because the service may have just started. */
  wake(mask: ReleaseMask | undefined): void {
    this.#keep(mask)
    this.#backOffMs = firstBackOffMs
    this.#backOff.abort()
  }

  #keep(mask: ReleaseMask | undefined): void {
    if (!mask) return
    this.#masks.delete(mask.release)
    this.#masks.set(mask.release, mask.mask)
    const [oldest] = this.#masks.keys()
    if (this.#masks.size > mostMasks && oldest !== undefined) this.#masks.delete(oldest)
  }

  #hide(text: string): string {
    let hidden = text
    for (const mask of this.#masks.values()) hidden = mask(hidden)
    return hidden
  }

  stop(): Promise<void> {
    this.#stopping.abort()
    return this.#ended
  }

  async #collect(startAfter: Promise<void> | undefined): Promise<void> {
    await startAfter
    const { signal } = this.#stopping
    const { log, clock } = this.#options
    while (!signal.aborted) {
      try {
        await this.#attach(signal)
      } catch (error) {
        if (signal.aborted) break
        // Only the first of consecutive failures is logged.
        const level = this.#backOffMs === firstBackOffMs ? 'warn' : 'debug'
        log[level]({ service: this.#service, reason: messageOf(error) }, 'collecting log lines was interrupted')
      }
      this.#backOff = new AbortController()
      const either = AbortSignal.any([signal, this.#backOff.signal])
      const ms = this.#backOffMs
      this.#backOffMs = Math.min(longestBackOffMs, ms * 2)
      await clock.sleep(ms, either).catch(() => {})
    }
    await this.#tellDropped()
  }

  /** One connection to the engine, until it ends. */
  async #attach(signal: AbortSignal): Promise<void> {
    const { sourceOf, store } = this.#options
    // The engine stays known after the record of the service is deleted.
    this.#source ??= await sourceOf(this.#service)
    const resume = new ResumePoint(await store.tail(this.#key, resumeLines, isFromEngine))
    const query = resume.after === undefined ? { follow: true } : { follow: true, after: resume.after }
    let sinceTurn = 0
    for await (const line of this.#source.logs(this.#service, query, signal)) {
      const wait = this.#accept(line, resume)
      if (wait) await wait
      if (++sinceTurn < linesPerTurn && !wait) continue
      sinceTurn = 0
      await new Promise((resolve) => setImmediate(resolve))
      if (signal.aborted) return
    }
  }

  #accept(line: LogLine, resume: ResumePoint): Promise<void> | undefined {
    if (!resume.isPassed) {
      const novelty = resume.judge({ ...line, text: storedText(this.#hide(line.text)) })
      if (novelty === 'stored') return undefined
      if (novelty === 'gap') void this.#append(markerLine('gap', 'lines may be missing here', { at: line.at }))
    }
    this.#backOffMs = firstBackOffMs
    if (!this.#budget.take(() => this.#options.clock.monotonic())) {
      this.#drop(line)
      return undefined
    }
    if (this.#dropped > 0) void this.#tellDropped()
    const { at, replica, release, container, stream } = line
    const of = container === undefined ? {} : { container }
    return this.#append({ at, replica, release, ...of, stream, text: this.#hide(line.text) })
  }

  #drop(line: LogLine): void {
    this.#droppedAt = line.at
    if (++this.#dropped > 1) return
    // Written even if nothing follows the flood.
    const { clock } = this.#options
    const pause = clock.sleep(this.#budget.pauseMs(clock.monotonic()), this.#stopping.signal)
    void pause.then(() => this.#tellDropped()).catch(() => {})
  }

  #tellDropped(): Promise<void> | undefined {
    if (this.#dropped === 0) return undefined
    const { linesPerSecond = 20_000 } = this.#options
    const text = `${this.#dropped} lines dropped: the service printed more than ${linesPerSecond} lines a second`
    const marker = markerLine('dropped', text, { at: this.#droppedAt, lines: this.#dropped })
    this.#dropped = 0
    return this.#append(marker)
  }

  #append(line: NewLine): Promise<void> | undefined {
    return this.#options.store.append(this.#key, [line])
  }
}
