import { type ArchiveEntry, ArchiveReader, BrokenArchive } from './archive-reader.ts'
import { EngineError } from './engine.ts'
import { contentLimit, contentTooLong } from './volume.ts'

/** The number of bytes between two progress reports. */
const stepBytes = 16 * 1_048_576

export interface Metering {
  /** Called from time to time, and at the end, with the bytes passed since the last call. */
  readonly count: (bytes: number) => void
  /**
   * The reason of the error if the archive breaks off: `refused` if a retry would give the same.
   */
  readonly broken: 'unreachable' | 'refused'
  /**
   * The size of the storage. Files that have more bytes in all than a copy may take are an error,
   * as soon as their headers say so.
   */
  readonly sizeGiB?: number | undefined
  /** Throws if the archive must not contain such an entry. */
  readonly look?: (entry: ArchiveEntry) => void
}

/**
 * Passes an archive on as it arrives. Throws if it breaks off: only its last bytes show that it is
 * complete, whatever HTTP says.
 */
export async function* metered(
  archive: AsyncIterable<Uint8Array>,
  { count, broken, sizeGiB, look }: Metering,
): AsyncGenerator<Uint8Array> {
  let content = 0
  const reader = new ArchiveReader((entry) => {
    content += entry.size
    if (sizeGiB !== undefined && content > contentLimit(sizeGiB)) throw contentTooLong(content, sizeGiB)
    look?.(entry)
    return undefined
  })
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
    throw new EngineError(reason, `the archive of a volume is incomplete: ${error.message}`, { cause: error })
  }
