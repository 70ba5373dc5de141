import { buffer } from 'node:stream/consumers'
import { extract, pack } from 'tar-stream'
import { longestOutputBytes, type Task, type TaskFile, type TaskOutcome } from '../engine.ts'
import { writtenFiles } from '../program-rules.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { directoryOf, placeOf } from './read-only-root.ts'

type Files = Pick<Task, 'outputFile' | 'inputFiles' | 'outputFiles'>

/**
 * Creates the directories of the input and output files in a container that has not started yet.
 * Every user may write to them.
 */
export async function prepareOutput(
  daemon: DockerDaemon,
  container: string,
  { files, places }: { readonly files: Files; readonly places: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const directories = new Set(writtenFiles(files).map(directoryOf))
  directories.delete('/')
  for (const directory of directories) {
    const place = placeOf(directory, places)
    const tar = pack()
    // In a volume this is the top directory, whose mode is set as well.
    const name = directory === place ? './' : `${directory.slice(place === '/' ? 1 : place.length + 1)}/`
    tar.entry({ name, type: 'directory', mode: 0o777 })
    tar.finalize()
    const path = `/containers/${container}/archive`
    const file = await buffer(tar)
    await daemon.send({ method: 'PUT', path, query: { path: place }, file, signal, timeoutMs: 60_000 })
  }
}

/** Reads the output files of a container that has ended. */
export async function readOutputs(
  daemon: DockerDaemon,
  container: string,
  { outputFile, outputFiles = [] }: Files,
  signal: AbortSignal,
): Promise<Pick<TaskOutcome, 'output' | 'outputProblem' | 'files'>> {
  const output =
    outputFile === undefined
      ? undefined
      : await readOutput(daemon, container, { path: outputFile, mostBytes: longestOutputBytes }, signal)
  const files = new Map<string, TaskFile>()
  for (const file of outputFiles) {
    const found = await readOutput(daemon, container, file, signal)
    if (found) files.set(file.path, found)
  }
  return {
    ...(output?.content && { output: Buffer.from(output.content).toString() }),
    ...(output?.problem !== undefined && { outputProblem: output.problem }),
    ...(outputFiles.length > 0 && { files }),
  }
}

/** Reads one file. Returns undefined if the program wrote none. */
async function readOutput(
  daemon: DockerDaemon,
  container: string,
  { path, mostBytes }: { readonly path: string; readonly mostBytes: number },
  signal: AbortSignal,
): Promise<TaskFile | undefined> {
  const ended = new AbortController()
  try {
    const response = await daemon.stream({
      method: 'GET',
      path: `/containers/${container}/archive`,
      query: { path },
      signal: AbortSignal.any([signal, ended.signal]),
    })
    const entries = extract()
    response.once('error', (error) => entries.destroy(error))
    // Only the first entry is read, so an archive bomb of the program is never unpacked.
    for await (const entry of response.pipe(entries)) {
      const { type, size = 0 } = entry.header
      if (type !== 'file') return { problem: 'it is no file' }
      if (size > mostBytes) return { problem: `it is longer than ${mostBytes / 2 ** 20} MiB` }
      return { content: await buffer(entry) }
    }
    return undefined
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  } finally {
    ended.abort()
  }
}
