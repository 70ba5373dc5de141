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
  /** Whether the data are right as far as they go. */
  readonly isShort: boolean

  constructor(message: string, { cause, isShort = false }: { cause?: unknown; isShort?: boolean } = {}) {
    super(message, { cause })
    this.name = 'BrokenArchive'
    this.isShort = isShort
  }
}

const blockBytes = 512
/** An archive of tar ends with two empty blocks. */
const trailerBytes = 2 * blockBytes
/** How compressed data begins: gzip, bzip2, xz, zstd, and the sixteen frames that zstd skips. */
const marks = ['1f8b08', '425a68', 'fd377a585a00', '28b52ffd', ...skipped()].map((mark) => Buffer.from(mark, 'hex'))
const longestMark = 6

/**
 * Reads an archive as a stream, and holds only one piece of it. `end` reports an archive that
 * breaks off anywhere: between two entries, or in a file of zeros, which looks like an end.
 */
export class ArchiveReader {
  // Without a store of its own: each write then waits until all its headers were read.
  readonly #tar = extract({ highWaterMark: 1 })
  readonly #begin: (entry: ArchiveEntry) => EntryReading | undefined
  #start = Buffer.alloc(0)
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
      const isShort = cause.message === 'Unexpected end of data'
      const message = `the archive is incomplete or not an archive: ${cause.message}`
      this.#error = new BrokenArchive(message, { cause, isShort })
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
    if (this.#start.length < longestMark) this.#lookAtStart(piece)
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
    if (this.#bytes < this.#lastEntryEnds + trailerBytes)
      throw new BrokenArchive('the archive ended early', { isShort: true })
  }

  /** Other readers of tar unpack a compressed archive without being asked, to any length. */
  #lookAtStart(piece: Uint8Array): void {
    this.#start = Buffer.concat([this.#start, piece.subarray(0, longestMark - this.#start.length)])
    if (marks.some((mark) => this.#start.subarray(0, mark.length).equals(mark)))
      throw new BrokenArchive('the archive is compressed')
  }

  #enter(header: Header): EntryReading | undefined {
    const entry = toEntry(header)
    refuseAmbiguous(entry, header)
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

function skipped(): string[] {
  return Array.from({ length: 16 }, (_, number) => `5${number.toString(16)}2a4d18`)
}

/**
 * Throws for an entry that other readers of tar take for a longer one, or whose content they take
 * for further entries: a sparse file has a few bytes here and any length after it was unpacked.
 */
function refuseAmbiguous({ path, kind, size }: ArchiveEntry, header: Header): void {
  const named = JSON.stringify(path.slice(0, 200))
  const isSparse = Object.keys(Object(Object(header).pax)).some((key) => key.startsWith('GNU.sparse'))
  if (isSparse || kind === 'unknown') throw new BrokenArchive(`the entry ${named} is sparse or of an unknown kind`)
  if (size > 0 && kind !== 'file' && kind !== 'contiguous-file')
    throw new BrokenArchive(`the entry ${named} of the kind ${kind} has content`)
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
