import { extract, type Header } from 'tar-stream'

/** The header of one entry of a tar archive. */
export interface ArchiveEntry {
  readonly path: string
  readonly kind: Header['type'] | 'unknown'
  readonly size: number
  /** The permission bits, as set by `chmod`. */
  readonly mode: number
  readonly user: number
  readonly group: number
  /** The target of a link. */
  readonly target?: string
}

/** Receives the content of an entry piece by piece. */
export interface EntryReading {
  readonly piece: (bytes: Uint8Array) => void
  readonly end: () => void
}

/** Thrown for data that is not a tar archive, or for an archive that breaks off. */
export class BrokenArchive extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'BrokenArchive'
  }
}

const blockBytes = 512
/** An archive of tar ends with two empty blocks. */
const trailerBytes = 2 * blockBytes

/**
 * Reads an archive as a stream, and holds only one piece of it. `end` reports an archive that
 * breaks off anywhere: between two entries, or in a file of zeros, which looks like an end.
 */
export class ArchiveReader {
  readonly #tar = extract()
  readonly #begin: (entry: ArchiveEntry) => EntryReading | undefined
  #bytes = 0
  #lastEntryEnds = 0
  #error: Error | undefined
  #wake: () => void = () => {}

  /** `begin` is called for each entry. `write` and `end` pass on its errors. */
  constructor(begin: (entry: ArchiveEntry) => EntryReading | undefined = () => undefined) {
    this.#begin = begin
    this.#tar.on('entry', (header, content, next) => {
      // A broken archive has an error of its own.
      content.on('error', () => {})
      try {
        const reading = this.#enter(header)
        content.on('data', (bytes) => {
          // The library's types do not say that the content is always bytes.
          if (bytes instanceof Uint8Array) reading?.piece(bytes)
        })
        content.on('end', () => {
          reading?.end()
          next()
        })
      } catch (error) {
        this.#error = error instanceof Error ? error : new Error(String(error))
        this.#tar.destroy(null)
      }
    })
    this.#tar.on('error', (cause) => {
      this.#error = new BrokenArchive(`the archive is incomplete or not an archive: ${cause.message}`, { cause })
    })
    for (const event of ['drain', 'finish', 'close']) this.#tar.on(event, () => this.#wake())
  }

  /** The number of bytes read. */
  get bytes(): number {
    return this.#bytes
  }

  /** Waits until the piece has been read. Throws BrokenArchive. */
  async write(piece: Uint8Array): Promise<void> {
    this.#throwIfFailed()
    if (piece.length === 0) return
    this.#bytes += piece.length
    const woken = this.#woken()
    if (!this.#tar.write(piece)) await woken
    this.#throwIfFailed()
  }

  /** Ends the archive. Throws BrokenArchive if it is incomplete. */
  async end(): Promise<void> {
    this.#throwIfFailed()
    const woken = this.#woken()
    this.#tar.end(null)
    await woken
    this.#throwIfFailed()
    if (this.#bytes < this.#lastEntryEnds + trailerBytes) throw new BrokenArchive('the archive ended early')
  }

  #enter(header: Header): EntryReading | undefined {
    const entry = toEntry(header)
    // The library's types lack the offset of the content.
    const begins = Number(Object(header).byteOffset)
    const length = entry.kind === 'directory' ? 0 : Math.ceil(entry.size / blockBytes) * blockBytes
    this.#lastEntryEnds = begins + length
    return this.#begin(entry)
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #throwIfFailed(): void {
    if (this.#error) throw this.#error
  }
}

function toEntry(header: Header): ArchiveEntry {
  // Numbers too large for the header are in an extended header; the library applies only the size
  // itself.
  const beside = Object(header.pax)
  const { name, type, size, mode, linkname } = header
  return {
    path: name,
    kind: type ?? 'unknown',
    size,
    mode: mode & 0o7777,
    user: Number(beside.uid ?? header.uid),
    group: Number(beside.gid ?? header.gid),
    ...(linkname ? { target: linkname } : {}),
  }
}
