import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { Clock } from '../../../lib/clock.ts'
import type { SafeStream } from '../../../lib/safe-stream.ts'
import { RegistryProblem } from '../registry-problem.ts'
import type { Blob } from './manifest.ts'
import type { ImageSource } from './source.ts'
import { translated } from './translated.ts'

/** The lowest rate at which a registry must send. A slower download fails and is retried. */
const leastRate = { bytesPerSecond: 8 * 1024, overMs: 30_000 }

/** A blob that is being fetched. Received bytes are kept, and the next try continues after them. */
export interface Part {
  readonly file: string
  readonly blob: Blob
  hash: Hash
  received: number
}

export const newPart = (file: string, blob: Blob): Part => ({ file, blob, hash: createHash('sha256'), received: 0 })

export interface Download {
  readonly source: ImageSource
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called with the number of all received bytes. */
  readonly count: (bytes: number) => void
}

/**
 * Downloads the blob into the file of its part and checks its digest. Throws RegistryProblem; if
 * `broken`, the received bytes are discarded.
 */
export async function download(part: Part, { source, clock, signal, count }: Download): Promise<void> {
  const { blob } = part
  if (part.received === 0) await forget(part)
  if (part.received < blob.size) {
    await using answer = await source.blob(blob, part.received, signal)
    const skip = await startOf(part, answer)
    const file = await open(part.file, 'a')
    try {
      await receive(part, file, { pieces: paced(answer.body, clock), skip, count })
    } catch (error) {
      signal.throwIfAborted()
      throw translated(error)
    } finally {
      await file.close()
    }
  }
  if (part.received < blob.size)
    throw new RegistryProblem('away', `it sent ${part.received} of ${blob.size} bytes: unexpected EOF`)
  const found = `sha256:${part.hash.copy().digest('hex')}`
  if (found === blob.digest) return
  await forget(part)
  throw new RegistryProblem('broken', `it sent ${found} instead of ${blob.digest}`)
}

async function forget(part: Part): Promise<void> {
  await rm(part.file, { force: true })
  part.hash = createHash('sha256')
  part.received = 0
}

/**
 * Returns how many bytes before the answer are already stored: a registry need not support ranges.
 */
async function startOf(part: Part, { status, headers }: SafeStream): Promise<number> {
  if (status !== 206) return part.received
  if (headers['content-range']?.startsWith(`bytes ${part.received}-`)) return 0
  await forget(part)
  throw new RegistryProblem('broken', 'it sent a different range than requested')
}

async function receive(
  part: Part,
  file: FileHandle,
  from: { readonly pieces: AsyncIterable<Buffer>; readonly skip: number; readonly count: (bytes: number) => void },
): Promise<void> {
  let left = from.skip
  for await (const piece of from.pieces) {
    const fresh = piece.subarray(Math.min(left, piece.length))
    left -= piece.length - fresh.length
    if (part.received + fresh.length > part.blob.size) {
      await forget(part)
      throw new RegistryProblem('broken', `it sent more than the ${part.blob.size} bytes that its manifest names`)
    }
    await file.writeFile(fresh)
    part.hash.update(fresh)
    part.received += fresh.length
    from.count(fresh.length)
  }
}

/**
 * Throws RegistryProblem if the bytes arrive too slowly. The time for writing them does not count.
 */
async function* paced(pieces: AsyncIterable<Buffer>, clock: Clock): AsyncGenerator<Buffer> {
  let [waitedMs, bytes, asked] = [0, 0, clock.monotonic()]
  for await (const piece of pieces) {
    waitedMs += clock.monotonic() - asked
    bytes += piece.length
    if (waitedMs >= leastRate.overMs) {
      if (bytes < (leastRate.bytesPerSecond * waitedMs) / 1000) {
        throw new RegistryProblem(
          'away',
          `it sent ${bytes} bytes in ${Math.round(waitedMs / 1000)} s: timeout exceeded`,
        )
      }
      waitedMs = 0
      bytes = 0
    }
    yield piece
    asked = clock.monotonic()
  }
}
