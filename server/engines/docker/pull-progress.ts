import type { LineSink } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'

const everyMs = 5000

/** Reports the progress of an image pull in a few lines. */
export interface PullProgress {
  /** Sets the number of layers, and how many of them the engine already has. */
  begin(layers: number, present: number): void
  /** Adds fetched bytes. */
  count(bytes: number): void
  /** Counts a complete layer. */
  layer(): void
  /** Reports the totals. */
  end(): void
  /** The bytes fetched so far. */
  readonly bytes: number
}

export function followPull(output: LineSink, clock: Clock): PullProgress {
  let [all, done, bytes] = [0, 0, 0]
  let saidAt = clock.monotonic()
  return {
    begin(layers, present) {
      all = layers
      done = present
    },
    count(more) {
      bytes += more
      if (clock.monotonic() - saidAt < everyMs) return
      saidAt = clock.monotonic()
      output.line(`${done} of ${all} layers are there, ${megabytes(bytes)} fetched.`)
    },
    layer() {
      done++
    },
    end() {
      output.line(`The image is there: ${all} layers, ${megabytes(bytes)} fetched.`)
    },
    get bytes() {
      return bytes
    },
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
