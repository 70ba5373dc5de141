import type { LineSink } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'

const everyMs = 5000

interface Layer {
  readonly bytes: number
  readonly total: number
  readonly isDone: boolean
}

/** Makes a few sensible lines out of the thousands in which a daemon tells how it pulls. */
export interface PullProgress {
  /** One event of the daemon; gives the error that it tells of. */
  report(event: PullEvent): string | undefined
  /** Says what was fetched in all. */
  end(): void
}

export interface PullEvent {
  readonly id?: unknown
  readonly status?: unknown
  readonly error?: unknown
  readonly progressDetail?: { readonly current?: unknown; readonly total?: unknown }
}

export function followPull(output: LineSink, clock: Clock): PullProgress {
  const layers = new Map<string, Layer>()
  let saidAt = clock.monotonic()
  const sums = () => {
    const all = [...layers.values()]
    const sum = (of: (layer: Layer) => number): number => all.reduce((total, layer) => total + of(layer), 0)
    return { all: all.length, done: sum(({ isDone }) => Number(isDone)), bytes: sum(({ bytes }) => bytes) }
  }
  return {
    report({ id, status, error, progressDetail }) {
      if (typeof error === 'string') return error
      if (typeof id !== 'string' || typeof status !== 'string') return undefined
      const layer = nextLayer(layers.get(id), status, progressDetail)
      if (layer) layers.set(id, layer)
      if (clock.monotonic() - saidAt < everyMs) return undefined
      saidAt = clock.monotonic()
      const { all, done, bytes } = sums()
      output.line(`${done} of ${all} layers are there, ${megabytes(bytes)} fetched.`)
      return undefined
    },
    end() {
      const { all, bytes } = sums()
      output.line(`The image is there: ${all} layers, ${megabytes(bytes)} fetched.`)
    },
  }
}

/** Undefined for what is no layer. */
function nextLayer(former: Layer | undefined, status: string, detail: PullEvent['progressDetail']): Layer | undefined {
  const { bytes = 0, total = 0 } = former ?? {}
  if (status === 'Already exists') return { bytes, total, isDone: true }
  if (status === 'Pull complete') return { bytes: Math.max(bytes, total), total, isDone: true }
  if (status === 'Pulling fs layer' || status === 'Waiting') return { bytes, total, isDone: false }
  if (status === 'Downloading') {
    const [current, size] = [Number(detail?.current ?? 0), Number(detail?.total ?? 0)]
    return { bytes: Math.max(bytes, current), total: Math.max(total, size), isDone: false }
  }
  return former
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
