import { createHash } from 'node:crypto'
import { type ArchiveEntry, ArchiveReader, BrokenArchive, type EntryReading } from '../engines/index.ts'
import { ArchiveError } from './archive-error.ts'

/**
 * Path, kind, size, mode, owner and content of every entry as one sha-256, and the number of
 * entries. Two archives with the same files have the same manifest, regardless of order and times.
 */
export interface Manifest {
  readonly entries: number
  readonly digest: string
}

/**
 * Returns the manifest of an archive. Throws ArchiveError (`damaged`) if it is incomplete; errors
 * of its source are thrown unchanged.
 */
export async function manifestOf(archive: AsyncIterable<Uint8Array>): Promise<Manifest> {
  const reader = new ManifestReader()
  for await (const piece of archive) await reader.write(piece)
  return reader.end()
}

const modulus = 1n << 256n

/**
 * Computes the manifest of an archive while it is streamed. The hashes of the entries are summed,
 * which needs no order and no memory: a volume may have millions of files. The sum protects against
 * faults, which is the purpose of manifests; the key of the file protects against forgery.
 */
export class ManifestReader {
  readonly #reader = new ArchiveReader((entry) => this.#add(entry))
  #entries = 0
  #sum = 0n

  get bytes(): number {
    return this.#reader.bytes
  }

  /** Throws ArchiveError. */
  async write(piece: Uint8Array): Promise<void> {
    await this.#reader.write(piece).catch(translate)
  }

  /** Throws ArchiveError if this was not the end. */
  async end(): Promise<Manifest> {
    await this.#reader.end().catch(translate)
    const text = `${this.#entries}\n${this.#sum.toString(16)}`
    return { entries: this.#entries, digest: createHash('sha256').update(text).digest('hex') }
  }

  #add({ path, kind, size, mode, user, group, target }: ArchiveEntry): EntryReading {
    const said = [path.replace(/^\.\//, '').replace(/\/$/, ''), kind, size, mode, user, group, target ?? null]
    // The text has one line feed, its last character; the content follows.
    const hash = createHash('sha256').update(`${JSON.stringify(said)}\n`)
    const end = (): void => {
      this.#entries++
      this.#sum = (this.#sum + BigInt(`0x${hash.digest('hex')}`)) % modulus
    }
    return { piece: (bytes) => void hash.update(bytes), end }
  }
}

function translate(error: unknown): never {
  if (!(error instanceof BrokenArchive)) throw error
  throw new ArchiveError('damaged', `what was to be an archive is not whole: ${error.message}`, { cause: error })
}
