import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'
import { messageOf } from '../../../lib/error.ts'
import { parseForeign } from '../../../lib/foreign-json.ts'
import type { DockerDaemon } from '../daemon.ts'
import { isRefusal } from '../daemon.ts'
import { RegistryProblem } from '../registry-problem.ts'

/** Docker unpacks every layer before it answers. */
const loadMs = 30 * 60_000

/** An image to load into Docker. */
export interface LoadedImage {
  /** The tag to give it. */
  readonly tag: string
  readonly config: Buffer
  readonly diffIds: readonly string[]
  /** Unpacked layers by their diff ids. Layers that Docker has may be missing. */
  readonly layers: ReadonlyMap<string, { readonly file: string; readonly bytes: number }>
}

/**
 * Loads an image into Docker as an archive of `docker save` (moby `image/tarexport`). Throws
 * RegistryProblem.
 */
export async function loadImage(daemon: DockerDaemon, image: LoadedImage, signal: AbortSignal): Promise<void> {
  const broken = new AbortController()
  const archive = pack()
  const filling = fill(archive, image).catch((error: unknown) => {
    broken.abort(error)
    archive.destroy()
  })
  try {
    const answer = await daemon.stream({
      method: 'POST',
      path: '/images/load',
      query: { quiet: 1 },
      file: Readable.from(archive, { objectMode: false }),
      signal: AbortSignal.any([signal, broken.signal]),
      timeoutMs: loadMs,
    })
    refuse((await buffer(answer)).toString())
    await filling
  } catch (error) {
    signal.throwIfAborted()
    broken.signal.throwIfAborted()
    // Some versions reject an archive that they cannot load with a status code.
    if (isRefusal(error, 400, 500)) throw problemOf(error.message)
    throw error
  } finally {
    archive.destroy()
  }
}

async function fill(archive: Pack, { tag, config, diffIds, layers }: LoadedImage): Promise<void> {
  const nameOf = (diffId: string): string => `${diffId.slice('sha256:'.length)}.tar`
  for (const [diffId, { file, bytes }] of layers) {
    await pipeline(createReadStream(file), archive.entry({ name: nameOf(diffId), size: bytes }))
  }
  archive.entry({ name: 'config.json' }, config)
  const manifest = [{ Config: 'config.json', RepoTags: [tag], Layers: diffIds.map(nameOf) }]
  archive.entry({ name: 'manifest.json' }, JSON.stringify(manifest))
  archive.finalize()
}

/** Docker answers with lines of JSON, of which one may be an error. */
function refuse(answer: string): void {
  for (const line of answer.split('\n').filter((text) => text.trim() !== '')) {
    const error = errorOf(line)
    if (error !== undefined) throw problemOf(error)
  }
}

function errorOf(line: string): string | undefined {
  try {
    const { error } = Object(parseForeign(Buffer.from(line)))
    return error === undefined ? undefined : String(error)
  } catch (error) {
    return messageOf(error)
  }
}

const problemOf = (said: string): RegistryProblem =>
  new RegistryProblem(
    /no space left on device|disk quota exceeded/i.test(said) ? 'disk-full' : 'form',
    `Docker: ${said}`,
  )
