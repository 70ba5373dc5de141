import { type ArchiveEntry, ArchiveReader, BrokenArchive } from '../archive-reader.ts'
import { EngineError } from '../engine.ts'

/** Every so many bytes whoever waits is told. */
const stepBytes = 16 * 1_048_576

export interface Metering {
  /** Told now and then, and at the end, how many bytes have passed since it was told last. */
  readonly count: (bytes: number) => void
  /** Of the error where the archive breaks off: `refused` where another try would give the same. */
  readonly broken: 'unreachable' | 'refused'
  /** Throws where the archive may not have such an entry. */
  readonly look?: (entry: ArchiveEntry) => void
}

/** Hands an archive on as it comes. Throws where it breaks off: whatever HTTP says, its last bytes alone do not tell. */
export async function* metered(
  archive: AsyncIterable<Uint8Array>,
  { count, broken, look }: Metering,
): AsyncGenerator<Uint8Array> {
  const reader = new ArchiveReader((entry) => void look?.(entry))
  let counted = 0
  const countTo = (bytes: number): void => {
    count(bytes - counted)
    counted = bytes
  }
  for await (const piece of archive) {
    await reader.write(piece).catch(translate(broken))
    if (reader.bytes - counted >= stepBytes) countTo(reader.bytes)
    yield piece
  }
  await reader.end().catch(translate(broken))
  countTo(reader.bytes)
}

const translate =
  (reason: Metering['broken']) =>
  (error: unknown): never => {
    if (!(error instanceof BrokenArchive)) throw error
    throw new EngineError(reason, `the archive of a volume is not whole: ${error.message}`, { cause: error })
  }
