import type { LineSink } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'

const everyMs = 5000

/** Tells in a few lines how far the fetching of an image is. */
export interface PullProgress {
  /** The image has so many layers, of which some are on the engine already. */
  begin(layers: number, present: number): void
  /** So many more bytes came. */
  count(bytes: number): void
  /** One more layer is complete. */
  layer(): void
  /** Says what was fetched in all. */
  end(): void
  /** Bytes that came so far. */
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
