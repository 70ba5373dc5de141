import { AppError } from '../lib/error.ts'
import { inWorker, OverLimit } from '../lib/in-worker.ts'
import type { ChartVersion } from './helm-index.ts'

const module = new URL('helm-index.ts', import.meta.url)
const limits = { limitMs: 20_000, memoryMiB: 512 }

/** The charts of an index, read on a thread of its own: it may have 32 MiB. Throws 400 where that takes too long. */
export async function chartsIn(text: string): Promise<Map<string, ChartVersion[]> | undefined> {
  try {
    // The worker returns what `readIndex` gives.
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
