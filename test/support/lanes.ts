import { Worker } from 'node:worker_threads'
import { until } from './until.ts'

export type Wire = 'http' | 'tls' | 'h2'

/** A host that is asked for `/` over plain HTTP, HTTPS and HTTP/2. */
export interface LanesTarget {
  readonly host: string
  readonly plainPort: number
  readonly tlsPort: number
  /** The root of the certificates, in PEM format. */
  readonly root: string
  /** How many requests are open at once at most. */
  readonly lanes: number
  /** How often each lane asks. */
  readonly perLaneSecond: number
  /** A request without a right answer within this time is lost. */
  readonly patienceMs: number
}

/** A request that was not answered with 200 at once. */
export interface LaneFailure {
  readonly wire: Wire
  /** The reason of the first attempt. */
  readonly reason: string
  /** The time of the first attempt, in milliseconds since 1970. */
  readonly from: number
  /** The time at which the first attempt had failed. */
  readonly failedAt: number
  readonly attempts: number
  readonly tookMs: number
  readonly isLost: boolean
}

export interface LanesSeen {
  sent: number
  /** How often each body came with 200. */
  readonly versions: Record<string, number>
  readonly failures: LaneFailure[]
}

export interface Lanes {
  look(): Promise<LanesSeen>
  /** Waits until this many requests were sent in all. */
  sends(count: number, limitMs: number): Promise<void>
  /** Waits for open requests. */
  end(): Promise<LanesSeen>
  /** Ends the thread, also in the middle of requests. */
  close(): Promise<void>
}

/**
 * Sends requests from a thread of its own. Each lane has a connection that it keeps for a hundred
 * requests, and asks again after a failure, as browsers do for a GET.
 */
export function startLanes(target: LanesTarget): Lanes {
  const worker = new Worker(new URL('lanes.child.ts', import.meta.url), { workerData: target })
  const answer = (message: 'look' | 'end'): Promise<LanesSeen> => {
    const { promise, resolve, reject } = Promise.withResolvers<LanesSeen>()
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.postMessage(message)
    return promise.finally(() => worker.removeListener('error', reject))
  }
  const look = () => answer('look')
  return {
    look,
    sends: async (count, limitMs) => {
      await until(`${count} requests were sent`, async () => (await look()).sent >= count, { limitMs, everyMs: 500 })
    },
    end: () => answer('end'),
    close: async () => void (await worker.terminate()),
  }
}
