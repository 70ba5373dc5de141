import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { EngineError } from '../engine.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'

/** A program in the root directory of an image. */
export interface LocalFile {
  readonly name: string
  readonly content: Buffer
}

/** Creates an image of only these files if it is missing. It comes from no registry. */
export async function ensureLocalImage(
  daemon: DockerDaemon,
  reference: string,
  files: readonly LocalFile[],
  signal: AbortSignal,
): Promise<void> {
  try {
    await daemon.json({ method: 'GET', path: `/images/${reference}/json`, signal })
  } catch (error) {
    if (!isRefusal(error, 404)) throw error
    await importImage(daemon, reference, files, signal)
  }
}

async function importImage(
  daemon: DockerDaemon,
  reference: string,
  files: readonly LocalFile[],
  signal: AbortSignal,
): Promise<void> {
  const [repo, tag] = reference.split(':')
  const tar = pack()
  for (const { name, content } of files) tar.entry({ name, mode: 0o555 }, content)
  tar.finalize()
  const answer = await daemon.stream({
    method: 'POST',
    path: '/images/create',
    query: { fromSrc: '-', repo, tag },
    file: await buffer(tar),
    signal,
    timeoutMs: 60_000,
  })
  const said = (await buffer(answer)).toString()
  if (said.includes('"error"'))
    throw new EngineError('refused', `Docker could not create the image ${reference}: ${said}`)
}
