import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { syncDirectory } from '../lib/sync-directory.ts'
import { ChunkError, openChunks, sealChunks } from './archive-chunks.ts'
import { ArchiveError } from './archive-error.ts'
import { headerBytes, newHeader, openHeader } from './archive-header.ts'
import { type Manifest, ManifestReader } from './archive-manifest.ts'

/** The result of a write: bytes of the archive and of the file, and the contents of the archive. */
export interface Written {
  readonly archiveBytes: number
  readonly fileBytes: number
  readonly manifest: Manifest
}

const readBytes = 256 * 1024

/**
 * Writes an archive into a file, compressed and sealed with a key of 32 bytes, which may write many
 * files. The file appears whole or not at all. When this returns it is on the disk, readable by its
 * owner only, and has replaced any file of that name. Needs a few MiB of memory at any size. Throws
 * ArchiveError (`damaged`) if the archive is incomplete; errors of its source are thrown unchanged.
 */
export async function writeArchiveFile(
  path: string,
  archive: AsyncIterable<Uint8Array>,
  key: Buffer,
): Promise<Written> {
  const { header, chunkKey } = newHeader(key)
  const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await removeDrafts(path)
  const draft = `${path}.${randomUUID()}${draftEnding}`
  try {
    const manifest = new ManifestReader()
    const compressed = pipeline(passing(archive, manifest), createZstdCompress(), ended)
    const fileBytes = await writeDraft(draft, header, sealChunks(compressed, chunkKey))
    const written = { archiveBytes: manifest.bytes, fileBytes, manifest: await manifest.end() }
    await rename(draft, path)
    await syncDirectories(dirname(path), made)
    return written
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Reads the archive from such a file, once from beginning to end. Throws ArchiveError. Yields only
 * verified bytes, but also those before any damage, so the archive is complete only at its end.
 */
export async function* readArchiveFile(path: string, key: Buffer): AsyncGenerator<Uint8Array> {
  const name = basename(path)
  const handle = await openFile(path)
  try {
    const start = Buffer.alloc(headerBytes)
    const { bytesRead } = await handle.read(start, 0, headerBytes)
    const chunkKey = openHeader(start.subarray(0, bytesRead), key, name)
    yield* pipeline(openChunks(bytesOf(handle), chunkKey), createZstdDecompress(), ended)
  } catch (error) {
    if (!(error instanceof ChunkError)) throw error
    const message = `the file ${name} is damaged: ${error.message}; take another backup`
    throw new ArchiveError('damaged', message, { cause: error })
  } finally {
    await handle.close()
  }
}

/** The output of a pipeline reports how the pipeline ended. */
const ended = (): void => {}

const draftEnding = '.new'

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (cause) {
    if (Object(cause).code !== 'ENOENT') throw cause
    const message = `there is no file ${basename(path)}; it was removed, or the directory of backups is another one`
    throw new ArchiveError('missing', message, { cause })
  }
}

/** Each piece is valid until the next one is requested. */
async function* bytesOf(handle: FileHandle): AsyncGenerator<Buffer> {
  const held = Buffer.alloc(readBytes)
  for (;;) {
    const { bytesRead } = await handle.read(held, 0, readBytes)
    if (bytesRead === 0) return
    yield held.subarray(0, bytesRead)
  }
}

async function* passing(archive: AsyncIterable<Uint8Array>, manifest: ManifestReader): AsyncGenerator<Uint8Array> {
  for await (const piece of archive) {
    await manifest.write(piece)
    yield piece
  }
}

/** Yields the bytes of the file. */
async function writeDraft(draft: string, header: Buffer, chunks: AsyncIterable<Buffer>): Promise<number> {
  const handle = await open(draft, 'wx', 0o600)
  try {
    let bytes = header.length
    await handle.writeFile(header)
    for await (const chunk of chunks) {
      await handle.writeFile(chunk)
      bytes += chunk.length
    }
    await handle.sync()
    return bytes
  } finally {
    await handle.close()
  }
}

/**
 * Removes drafts of writers that were killed. A writer that still runs fails when it renames its
 * draft.
 */
async function removeDrafts(path: string): Promise<void> {
  const directory = dirname(path)
  const isDraft = (name: string): boolean => name.startsWith(`${basename(path)}.`) && name.endsWith(draftEnding)
  for (const name of (await readdir(directory)).filter(isDraft)) await rm(join(directory, name), { force: true })
}

/**
 * Flushes the directory, and those above it that have a new entry: `made` is the uppermost one that
 * was created.
 */
async function syncDirectories(directory: string, made: string | undefined): Promise<void> {
  await syncDirectory(directory)
  if (made === undefined) return
  for (let path = directory; path.length >= made.length; path = dirname(path)) await syncDirectory(dirname(path))
}
