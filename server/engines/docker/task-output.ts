import { buffer } from 'node:stream/consumers'
import { type Extract, extract } from 'tar-stream'
import { longestOutputBytes, type OutputFile, type Task, type TaskFile, type TaskOutcome } from '../engine.ts'
import { writtenFiles } from '../program-rules.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { directoryOf } from './read-only-root.ts'

type Files = Pick<Task, 'outputFile' | 'inputFiles' | 'outputFiles'>

/**
 * Lists the directories of the input and output files of a task. Every user may write to them.
 */
export const outputDirectories = (files: Files): string[] =>
  [...new Set(writtenFiles(files).map(directoryOf))].filter((directory) => directory !== '/')

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
  for (const [directory, inside] of Map.groupBy(outputFiles, ({ path }) => directoryOf(path))) {
    for (const [path, file] of await readInside(daemon, container, { directory, inside }, signal)) files.set(path, file)
  }
  return {
    ...(output?.content && { output: Buffer.from(output.content).toString() }),
    ...(output?.problem !== undefined && { outputProblem: output.problem }),
    ...(outputFiles.length > 0 && { files }),
  }
}

type Entry = Extract extends AsyncIterable<infer E> ? E : never
type Found = ReadonlyMap<string, TaskFile>

/** Reads files of one directory, in one call if the directory holds little else. */
async function readInside(
  daemon: DockerDaemon,
  container: string,
  { directory, inside }: { readonly directory: string; readonly inside: readonly OutputFile[] },
  signal: AbortSignal,
): Promise<Found> {
  const together = inside.length > 1 ? await readDirectory(daemon, container, { directory, inside }, signal) : undefined
  if (together) return together
  const files = new Map<string, TaskFile>()
  for (const file of inside) {
    const found = await readOutput(daemon, container, file, signal)
    if (found) files.set(file.path, found)
  }
  return files
}

/** The bytes that other files and headers may add to the archive of a directory. */
const otherBytes = 2 ** 20
const headerBytes = 512

/** Reads the files by one archive of their directory. Returns undefined if that is too long. */
async function readDirectory(
  daemon: DockerDaemon,
  container: string,
  { directory, inside }: { readonly directory: string; readonly inside: readonly OutputFile[] },
  signal: AbortSignal,
): Promise<Found | undefined> {
  const limits = new Map(inside.map((file) => [file.path, file.mostBytes]))
  const above = directory.slice(0, directory.lastIndexOf('/') + 1)
  const files = new Map<string, TaskFile>()
  let leftBytes = inside.reduce((sum, file) => sum + file.mostBytes, otherBytes)
  for await (const entry of entriesOf(daemon, container, directory, signal)) {
    leftBytes -= headerBytes + (entry.header.size ?? 0)
    if (leftBytes < 0) return undefined
    const path = `${above}${entry.header.name}`
    const mostBytes = limits.get(path)
    if (mostBytes !== undefined) files.set(path, await readEntry(entry, mostBytes))
    entry.resume()
  }
  return files
}

/** Reads one file. Returns undefined if the program wrote none. */
export async function readOutput(
  daemon: DockerDaemon,
  container: string,
  { path, mostBytes }: OutputFile,
  signal: AbortSignal,
): Promise<TaskFile | undefined> {
  // Only the first entry is read, so an archive bomb of the program is never unpacked.
  for await (const entry of entriesOf(daemon, container, path, signal)) return readEntry(entry, mostBytes)
  return undefined
}

async function readEntry(entry: Entry, mostBytes: number): Promise<TaskFile> {
  const { type, size = 0 } = entry.header
  if (type !== 'file') return { problem: 'it is no file' }
  if (size > mostBytes) return { problem: `it is longer than ${mostBytes / 2 ** 20} MiB` }
  return { content: await buffer(entry) }
}

/** Lists the entries of the archive of a path. There are none if the path does not exist. */
async function* entriesOf(
  daemon: DockerDaemon,
  container: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Entry> {
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
    yield* response.pipe(entries)
  } catch (error) {
    if (!isRefusal(error, 404)) throw error
  } finally {
    ended.abort()
  }
}
