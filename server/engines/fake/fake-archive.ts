import { pack } from 'tar-stream'
import { type ArchiveEntry, ArchiveReader, BrokenArchive } from '../archive-reader.ts'
import { EngineError } from '../engine.ts'

/** One entry in a volume of the fake engine. */
export interface FakeFile {
  readonly entry: ArchiveEntry
  readonly content: Buffer
}

/** Entries by path, as in archives of volumes: each below `volume/`. */
export type FakeFiles = ReadonlyMap<string, FakeFile>

export const fakeFile = (path: string, text: string): FakeFile => {
  const content = Buffer.from(text)
  return { entry: { path, kind: 'file', size: content.length, mode: 0o644, user: 0, group: 0 }, content }
}

const top: ArchiveEntry = { path: 'volume/', kind: 'directory', size: 0, mode: 0o755, user: 0, group: 0 }

export const emptyVolume: FakeFiles = new Map([[top.path, { entry: top, content: Buffer.alloc(0) }]])

/** Returns the archive of a volume in pieces. */
export async function* packFiles(files: FakeFiles): AsyncGenerator<Uint8Array> {
  const tar = pack()
  for (const { entry, content } of files.values()) {
    const { path: name, kind, mode, user: uid, group: gid, target } = entry
    if (kind === 'unknown') throw new Error(`the fake engine cannot pack ${name}`)
    tar.entry({ name, type: kind, mode, uid, gid, ...(target === undefined ? {} : { linkname: target }) }, content)
  }
  tar.finalize()
  // The library's types do not say that these are bytes.
  for await (const piece of tar) if (piece instanceof Uint8Array) yield piece
}

/**
 * Returns the content of a volume's archive, and its size in bytes. Throws EngineError if it is
 * incomplete.
 */
export async function unpackFiles(archive: AsyncIterable<Uint8Array>): Promise<{ files: FakeFiles; bytes: number }> {
  const files = new Map<string, FakeFile>()
  const reader = new ArchiveReader((entry) => {
    if (!entry.path.startsWith('volume/'))
      throw new EngineError('refused', `the archive does not contain a volume: it has ${JSON.stringify(entry.path)}`)
    const pieces: Uint8Array[] = []
    const end = () => void files.set(entry.path, { entry, content: Buffer.concat(pieces) })
    return { piece: (bytes) => void pieces.push(bytes), end }
  })
  for await (const piece of archive) await reader.write(piece).catch(refuse)
  await reader.end().catch(refuse)
  return { files, bytes: reader.bytes }
}

function refuse(error: unknown): never {
  if (!(error instanceof BrokenArchive)) throw error
  throw new EngineError('refused', `the archive of a volume is incomplete: ${error.message}`, { cause: error })
}
