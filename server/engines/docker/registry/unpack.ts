import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ArchiveReader, BrokenArchive } from '../../archive-reader.ts'
import { RegistryProblem } from '../registry-problem.ts'

/** The number of bytes that may still be unpacked, over all layers of an image. */
export interface Room {
  leftBytes: number
}

const magics = {
  gzip: Buffer.from([0x1f, 0x8b]),
  zstd: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  xz: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]),
  bzip2: Buffer.from('BZh'),
} as const
type Packing = keyof typeof magics

const unpackers: Partial<Record<Packing, () => Duplex>> = { gzip: createGunzip, zstd: createZstdDecompress }

export interface Unpacked {
  readonly diffId: string
  readonly bytes: number
}

/**
 * Unpacks a layer in any supported compression, and returns its diff id. Docker gets the unpacked
 * bytes only: it would unpack compressed ones a second time, by its own rules and without a limit.
 * Sparse files are refused for the same reason: Docker writes their holes, whatever their length.
 * Throws RegistryProblem.
 */
export async function unpack(from: string, to: string, room: Room, signal: AbortSignal): Promise<Unpacked> {
  const packing = packingOf(await headOf(from))
  const unpacker = packing && unpackers[packing]?.()
  if (packing && !unpacker) throw new RegistryProblem('form', `one of its layers is compressed by ${packing}`)
  const hash = createHash('sha256')
  const reader = new ArchiveReader()
  let bytes = 0
  async function* measured(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let head = Buffer.alloc(0)
    for await (const piece of pieces) {
      if (head.length < longestMagic) {
        head = Buffer.concat([head, piece.subarray(0, longestMagic)])
        if (packingOf(head)) throw new RegistryProblem('form', 'one of its layers is compressed twice')
      }
      room.leftBytes -= piece.length
      bytes += piece.length
      if (room.leftBytes < 0) throw new RegistryProblem('size', 'its layers exceed the size limit of images')
      hash.update(piece)
      await reader.write(piece)
      yield piece
    }
    // A layer that is cut off has another digest than the image says.
    await reader.end().catch((error: unknown) => {
      if (!(error instanceof BrokenArchive && error.isShort)) throw error
    })
  }
  const [source, target] = [createReadStream(from), createWriteStream(to)]
  try {
    if (unpacker) await pipeline(source, unpacker, measured, target, { signal })
    else await pipeline(source, measured, target, { signal })
  } catch (error) {
    await rm(to, { force: true })
    room.leftBytes += bytes
    signal.throwIfAborted()
    if (error instanceof BrokenArchive)
      throw new RegistryProblem('form', `one of its layers is not accepted: ${error.message}`, { cause: error })
    const { code } = Object(error)
    if (!/^(?:Z_|ERR_ZSTD|ZSTD_)/.test(String(code))) throw error
    throw new RegistryProblem('form', `one of its layers cannot be unpacked: ${String(code)}`, { cause: error })
  }
  return { diffId: `sha256:${hash.digest('hex')}`, bytes }
}

const longestMagic = Math.max(...Object.values(magics).map(({ length }) => length))

function packingOf(head: Buffer): Packing | undefined {
  // The keys of the table are its type.
  const names = Object.keys(magics) as Packing[]
  return names.find((name) => head.subarray(0, magics[name].length).equals(magics[name]))
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(longestMagic), 0, longestMagic, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
