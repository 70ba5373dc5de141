import { createHash } from 'node:crypto'
import { startDeadline } from '../../../lib/deadline.ts'
import type { SafeStream } from '../../../lib/safe-stream.ts'
import { RegistryProblem } from '../registry-problem.ts'
import { readWhole } from './answers.ts'
import type { RegistryClient } from './client.ts'
import { type Blob, type ImageManifest, isDigest, manifestTypes, mostManifestBytes, readManifest } from './manifest.ts'
import type { Platform } from './places.ts'

/**
 * Returns the parts of one image from the first registry that has them. A part that it returns
 * whole has the requested digest.
 */
export interface ImageSource {
  /** Returns the digest of a tag. */
  digestOf(tag: string, signal: AbortSignal): Promise<string>
  /** The manifest of an image for a platform, with its bytes. */
  manifest(digest: string, platform: Platform, signal: AbortSignal): Promise<WholeManifest>
  /** A blob in one piece. */
  small(blob: Blob, signal: AbortSignal): Promise<Buffer>
  /**
   * Streams a blob from a byte on. Status 206 means that it begins there, 200 that it begins at the
   * start. The caller disposes of it.
   */
  blob(blob: Blob, from: number, signal: AbortSignal): Promise<SafeStream>
}

/** A manifest as its registry has it. */
export interface WholeManifest extends ImageManifest {
  /** The digest of `bytes`. */
  readonly digest: string
  readonly bytes: Buffer
}

/** The time limit of a short answer, even if bytes keep arriving. */
const smallMs = 120_000

export function createSource(clients: readonly RegistryClient[]): ImageSource {
  /** Mirrors come first, and any of them may fail. The answer of the registry itself counts. */
  async function first<T>(ask: (client: RegistryClient) => Promise<T>): Promise<T> {
    for (const client of clients.slice(0, -1)) {
      try {
        return await ask(client)
      } catch (error) {
        if (!(error instanceof RegistryProblem)) throw error
      }
    }
    const [last] = clients.slice(-1)
    if (!last) throw new Error('a registry has an address')
    return ask(last)
  }
  const whole = (path: string, digest: string | undefined, maxBytes: number, signal: AbortSignal): Promise<Buffer> =>
    first((client) =>
      limited(signal, async (bounded) => {
        await using answer = await client.ask({
          path,
          headers: { accept: `${manifestTypes}, */*;q=0.1` },
          signal: bounded,
        })
        const bytes = await readWhole(answer, maxBytes)
        if (digest !== undefined) assertDigest(bytes, digest)
        return bytes
      }),
    )
  return {
    async digestOf(tag, signal) {
      const path = `manifests/${tag}`
      const named = await first((client) =>
        limited(signal, async (bounded) => {
          await using answer = await client.ask({
            method: 'HEAD',
            path,
            headers: { accept: manifestTypes },
            signal: bounded,
          })
          return answer.headers['docker-content-digest']
        }),
      )
      if (named !== undefined && isDigest(named)) return named
      return digestOf(await whole(path, undefined, mostManifestBytes, signal))
    },
    async manifest(digest, platform, signal) {
      const read = async (wanted: string) => {
        const bytes = await whole(`manifests/${wanted}`, wanted, mostManifestBytes, signal)
        return { bytes, found: readManifest(bytes, platform) }
      }
      const { bytes, found } = await read(digest)
      if (!('digest' in found)) return { ...found, digest, bytes }
      const image = await read(found.digest)
      if ('digest' in image.found) throw new RegistryProblem('form', 'its list contains another list')
      return { ...image.found, digest: found.digest, bytes: image.bytes }
    },
    small: ({ digest, size }, signal) => whole(`blobs/${digest}`, digest, size, signal),
    blob: ({ digest }, from, signal) =>
      first((client) =>
        client.ask({ path: `blobs/${digest}`, headers: from > 0 ? { range: `bytes=${from}-` } : {}, signal }),
      ),
  }
}

async function limited<T>(signal: AbortSignal, work: (bounded: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = startDeadline(smallMs, signal)
  try {
    return await work(deadline.signal)
  } catch (error) {
    signal.throwIfAborted()
    throw deadline.isOver ? new RegistryProblem('away', `it did not answer within ${smallMs / 1000} s`) : error
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

function assertDigest(bytes: Buffer, digest: string): void {
  const found = digestOf(bytes)
  if (found !== digest) throw new RegistryProblem('broken', `it sent ${found} instead of ${digest}`)
}
