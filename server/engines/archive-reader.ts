import { extract, type Header } from 'tar-stream'

/** What an archive of tar tells of one thing in it. */
export interface ArchiveEntry {
  readonly path: string
  readonly kind: Header['type'] | 'unknown'
  readonly size: number
  /** The bits that `chmod` sets. */
  readonly mode: number
  readonly user: number
  readonly group: number
  /** Of a link: where it leads. */
  readonly target?: string
}

/** Is given what an entry holds, piece by piece. */
export interface EntryReading {
  readonly piece: (bytes: Uint8Array) => void
  readonly end: () => void
}

/** What was to be an archive of tar is none, or ends before its end. */
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
 * Reads an archive that passes by, and holds no more than a piece of it. One that breaks off is told by `end`, wherever it breaks: between
 * two entries, and in a file of zeros, which looks like an end, too.
 */
export class ArchiveReader {
  readonly #tar = extract()
  readonly #begin: (entry: ArchiveEntry) => EntryReading | undefined
  #bytes = 0
  #lastEntryEnds = 0
  #error: Error | undefined
  #wake: () => void = () => {}

  /** `begin` is called for each entry; what it throws, `write` or `end` throws. */
  constructor(begin: (entry: ArchiveEntry) => EntryReading | undefined = () => undefined) {
    this.#begin = begin
    this.#tar.on('entry', (header, content, next) => {
      // That the archive is broken is told by its own error.
      content.on('error', () => {})
      try {
        const reading = this.#enter(header)
        content.on('data', (bytes) => {
          // The library gives nothing else, but does not say so.
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
      this.#error = new BrokenArchive(`the archive broke off, or is none: ${cause.message}`, { cause })
    })
    for (const event of ['drain', 'finish', 'close']) this.#tar.on(event, () => this.#wake())
  }

  /** How many have been read. */
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

  /** Nothing more comes. Throws BrokenArchive unless this was the end of the archive. */
  async end(): Promise<void> {
    this.#throwIfFailed()
    const woken = this.#woken()
    this.#tar.end(null)
    await woken
    this.#throwIfFailed()
    if (this.#bytes < this.#lastEntryEnds + trailerBytes) throw new BrokenArchive('the archive broke off')
  }

  #enter(header: Header): EntryReading | undefined {
    const entry = toEntry(header)
    // The library tells where the content begins, but not in its types.
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
  // Numbers for which the header has no room stand beside it; the library applies that of the size alone.
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
