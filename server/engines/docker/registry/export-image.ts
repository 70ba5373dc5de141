import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import type { DockerDaemon } from '../daemon.ts'
import type { OutgoingBlob } from './upload.ts'

/** A blob in a file. The receiver may move the file. */
export interface SpooledBlob extends OutgoingBlob {
  readonly file: string
}

/** Docker reads every layer before it answers. */
const saveMs = 30 * 60_000

/**
 * Reads an image out of Docker (`docker save`) and passes each file of the archive on as a blob:
 * the layers, the configuration and some small ones. Files are identified by their
 * digests, because versions of Docker name them differently. One file at a time is in `directory`.
 */
export async function exportImage(
  daemon: DockerDaemon,
  { id, directory }: { readonly id: string; readonly directory: string },
  take: (blob: SpooledBlob) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const path = `/images/${id}/get`
  const archive = await daemon.stream({ method: 'GET', path, signal, timeoutMs: saveMs })
  const entries = extract()
  const reading = pipeline(archive, entries, { signal })
  const file = join(directory, 'blob')
  const taking = (async () => {
    for await (const entry of entries) {
      if (entry.header.type !== 'file') entry.resume()
      else await take(await spooled(Readable.from(entry, { objectMode: false }), file))
    }
  })()
  try {
    await Promise.all([reading, taking])
  } finally {
    entries.destroy()
    archive.destroy()
    await Promise.allSettled([reading, taking])
    await rm(file, { force: true })
  }
}

/** Reads from an offset of a file, and returns the part of the buffer that was filled. */
export async function readInto(file: string, from: number, into: Buffer): Promise<Buffer> {
  await using handle = await open(file)
  const { bytesRead } = await handle.read(into, 0, into.length, from)
  return into.subarray(0, bytesRead)
}

async function spooled(entry: Readable, file: string): Promise<SpooledBlob> {
  const hash = createHash('sha256')
  let size = 0
  const count = new Transform({
    transform: (piece: Buffer, _, done) => {
      hash.update(piece)
      size += piece.length
      done(null, piece)
    },
  })
  await pipeline(entry, count, createWriteStream(file, { mode: 0o600 }))
  return {
    file,
    digest: `sha256:${hash.digest('hex')}`,
    size,
    read: (from, into) => readInto(file, from, into),
  }
}
