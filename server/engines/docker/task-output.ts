import { buffer } from 'node:stream/consumers'
import { extract, pack } from 'tar-stream'
import { longestOutputBytes, type TaskOutcome } from '../engine.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { placeOf } from './read-only-root.ts'

/**
 * Creates the directory of the output file in a container that has not started yet. Every user may
 * write to it.
 */
export async function prepareOutput(
  daemon: DockerDaemon,
  container: string,
  { outputFile: file, places }: { readonly outputFile?: string | undefined; readonly places: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const directory = file?.slice(0, file.lastIndexOf('/'))
  if (!directory) return
  const place = placeOf(directory, places)
  const tar = pack()
  // In a volume this is the top directory, whose mode is set as well.
  const name = directory === place ? './' : `${directory.slice(place === '/' ? 1 : place.length + 1)}/`
  tar.entry({ name, type: 'directory', mode: 0o777 })
  tar.finalize()
  const path = `/containers/${container}/archive`
  await daemon.send({ method: 'PUT', path, query: { path: place }, file: await buffer(tar), signal, timeoutMs: 60_000 })
}

/** Reads the output file of a container that has ended. */
export async function readOutput(
  daemon: DockerDaemon,
  container: string,
  file: string | undefined,
  signal: AbortSignal,
): Promise<Pick<TaskOutcome, 'output' | 'outputProblem'>> {
  if (file === undefined) return {}
  const ended = new AbortController()
  try {
    const response = await daemon.stream({
      method: 'GET',
      path: `/containers/${container}/archive`,
      query: { path: file },
      signal: AbortSignal.any([signal, ended.signal]),
    })
    const entries = extract()
    response.once('error', (error) => entries.destroy(error))
    // Only the first entry is read, so an archive bomb of the program is never unpacked.
    for await (const entry of response.pipe(entries)) {
      const { type, size = 0 } = entry.header
      if (type !== 'file') return { outputProblem: 'it is no file' }
      if (size > longestOutputBytes) return { outputProblem: 'it is longer than 1 MiB' }
      return { output: (await buffer(entry)).toString() }
    }
    return {}
  } catch (error) {
    if (isRefusal(error, 404)) return {}
    throw error
  } finally {
    ended.abort()
  }
}
