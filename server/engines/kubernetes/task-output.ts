import { EngineError, longestOutputBytes, type Task, type TaskFile, type TaskOutcome } from '../engine.ts'
import { beginningOf } from './beginning-of.ts'
import type { ContainerPlace } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { filesContainer, hasFiles, keptFile } from './task-files.ts'
import { keeperContainer, keptOutput } from './task-objects.ts'

/** Exit codes of the command that reads an output file. */
const codes = { missing: 10, noFile: 11 } as const

/**
 * Prints a file, a byte more than allowed. Path and limit are arguments, never a part of the
 * program.
 */
const program = `[ -e "$1" ] || exit ${codes.missing}; [ -f "$1" ] || exit ${codes.noFile}; ` + 'exec head -c "$2" "$1"'

type Outputs = Pick<TaskOutcome, 'output' | 'outputProblem' | 'files'>

/** Reads the output files of a run that has ended, in the container that keeps them. */
export async function readOutputs(
  host: KubeHost,
  workload: Task,
  { namespace, name: pod }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Outputs> {
  const { outputFile } = workload
  const isKept = hasFiles(workload)
  const place = { namespace, pod, container: isKept ? filesContainer : keeperContainer }
  const files = new Map<string, TaskFile>()
  for (const { path, mostBytes } of workload.outputFiles ?? []) {
    const found = await readFile(host, place, { path: keptFile(workload, path), mostBytes }, signal)
    if (found) files.set(path, found)
  }
  const path = outputFile && (isKept ? keptFile(workload, outputFile) : keptOutput(outputFile))
  const output = path ? await readFile(host, place, { path, mostBytes: longestOutputBytes }, signal) : undefined
  return {
    ...(output?.content && { output: Buffer.from(output.content).toString() }),
    ...(output?.problem !== undefined && { outputProblem: output.problem }),
    ...(isKept && { files }),
  }
}

/** Reads one file. Returns undefined if the program wrote none. Throws EngineError. */
export async function readFile(
  { kube }: KubeHost,
  place: ContainerPlace,
  { path, mostBytes }: { readonly path: string; readonly mostBytes: number },
  signal: AbortSignal,
): Promise<TaskFile | undefined> {
  const command = ['sh', '-c', program, 'sh', path, String(mostBytes + 1)]
  const reading = await kube.exec(place, command, { hasTerminal: false, hasInput: false }, signal)
  reading.stderr.resume()
  const content = await beginningOf(reading.stdout, mostBytes + 1)
  // A command that prints more than it was asked for is not waited for.
  if (content.length > mostBytes) reading.close()
  const exitCode = content.length > mostBytes ? 0 : await reading.exitCode()
  if (exitCode === codes.missing) return undefined
  if (exitCode === codes.noFile) return { problem: 'it is no file' }
  if (content.length > mostBytes) return { problem: `it is longer than ${mostBytes / 2 ** 20} MiB` }
  if (exitCode === undefined) throw new EngineError('unreachable', 'the connection to the pod of a run broke')
  return exitCode === 0 ? { content } : { problem: `it could not be read (exit code ${exitCode})` }
}
