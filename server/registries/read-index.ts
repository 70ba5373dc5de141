import { AppError } from '../lib/error.ts'
import { inWorker, OverLimit } from '../lib/in-worker.ts'
import type { ChartVersion } from './helm-index.ts'

const module = new URL('helm-index.ts', import.meta.url)
const limits = { limitMs: 20_000, memoryMiB: 512 }

/**
 * Reads the charts of an index of up to 32 MiB on a separate thread. Throws 400 if that takes too
 * long.
 */
export async function chartsIn(text: string): Promise<Map<string, ChartVersion[]> | undefined> {
  try {
    // The worker returns the result of `readIndex`.
    return (await inWorker({ module, name: 'readIndex', argument: text }, limits)) as
      | Map<string, ChartVersion[]>
      | undefined
  } catch (cause) {
    if (!(cause instanceof OverLimit)) throw cause
    throw new AppError('invalid', `The index of charts takes ${cause.message} to read. Use a smaller repository.`, {
      cause,
    })
  }
}
