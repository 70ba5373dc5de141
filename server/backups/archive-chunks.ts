import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'

/** The size of a chunk. All chunks except the last have it. */
const chunkBytes = 64 * 1024
const tagBytes = 16
const algorithm = 'aes-256-gcm'

/** A chunk was changed or moved, or the last one is missing. */
export class ChunkError extends Error {}

/**
 * Seals bytes as they come, in chunks of AES-256-GCM. The nonce of a chunk is its number and
 * whether it is the last (the STREAM construction), so a chunk that is cut off, moved, repeated or
 * added does not open. A key may seal only one such sequence.
 */
export async function* sealChunks(plain: AsyncIterable<Uint8Array>, key: KeyObject): AsyncGenerator<Buffer> {
  for await (const { bytes, nonce } of inChunks(plain, chunkBytes)) {
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }
}

/**
 * Opens the output of sealChunks, however it is cut into pieces now. Yields a chunk only after its
 * tag was verified. Throws ChunkError.
 */
export async function* openChunks(sealed: AsyncIterable<Uint8Array>, key: KeyObject): AsyncGenerator<Buffer> {
  for await (const { bytes, nonce, number } of inChunks(sealed, chunkBytes + tagBytes)) {
    if (bytes.length < tagBytes) throw new ChunkError(`chunk ${number} is cut off`)
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    const plain = decipher.update(bytes.subarray(0, -tagBytes))
    try {
      // Checks the tag; this mode returns no further bytes.
      decipher.final()
    } catch (cause) {
      throw new ChunkError(`chunk ${number} is not as it was written, or does not stand at its place`, { cause })
    }
    yield plain
  }
}

interface Chunk {
  /** Valid until the next one is requested. */
  readonly bytes: Buffer
  readonly number: number
  readonly nonce: Buffer
}

/**
 * Yields chunks of one size and then the rest, which is empty only if there are no bytes at all.
 */
async function* inChunks(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Chunk> {
  const held = Buffer.alloc(size)
  let [filled, number] = [0, 0]
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      // Only now is it known not to be the last.
      if (filled === size) {
        yield { bytes: held, number, nonce: nonceOf(number, false) }
        number++
        filled = 0
      }
      const taken = piece.subarray(at, at + size - filled)
      held.set(taken, filled)
      filled += taken.length
      at += taken.length
    }
  }
  yield { bytes: held.subarray(0, filled), number, nonce: nonceOf(number, true) }
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 5, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}
