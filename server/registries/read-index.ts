import { AppError } from '../lib/error.ts'
import { inWorker, OverLimit, sharedBytes } from '../lib/in-worker.ts'
import type { ChartVersion, IndexQuestion } from './helm-index.ts'

const module = new URL('helm-index.ts', import.meta.url)
const limits = { limitMs: 20_000, memoryMiB: 512 }

/**
 * Reads the charts of an index of up to 32 MiB, or one of them, with their versions. Undefined if
 * the bytes are not an index. Throws 400 if that takes too long.
 */
export const chartsIn = (bytes: Uint8Array, name?: string): Promise<[string, string[]][] | undefined> =>
  // The worker returns the result of `versionsIn`.
  read('versionsIn', { bytes, name }) as Promise<[string, string[]][] | undefined>

/** Reads one version of a chart. Null if the index does not list it. */
export const chartIn = (
  bytes: Uint8Array,
  chart: { readonly name: string; readonly version: string },
): Promise<ChartVersion | null | undefined> =>
  // The worker returns the result of `versionIn`.
  read('versionIn', { bytes, ...chart }) as Promise<ChartVersion | null | undefined>

async function read(name: string, question: IndexQuestion): Promise<unknown> {
  try {
    const argument = { ...question, bytes: await sharedBytes(question.bytes) }
    return await inWorker({ module, name, argument }, limits)
  } catch (cause) {
    if (!(cause instanceof OverLimit)) throw cause
    throw new AppError('invalid', `The index of charts takes ${cause.message} to read. Use a smaller repository.`, {
      cause,
    })
  }
}
