import { longestOutputBytes, type Task, type TaskOutcome } from '../engine.ts'
import { beginningOf } from './beginning-of.ts'
import type { KubeHost } from './host.ts'
import type { PodState } from './pod-state.ts'
import { keeperContainer, keptOutput } from './task-objects.ts'

/** Exit codes of the command that reads the output file. */
const codes = { missing: 10, noFile: 11 } as const

/**
 * Prints a file, a byte more than allowed. The path is an argument, never a part of the program.
 */
const program =
  `[ -e "$1" ] || exit ${codes.missing}; [ -f "$1" ] || exit ${codes.noFile}; ` +
  `head -c ${longestOutputBytes + 1} "$1"`

/** Reads the output file of a run that has ended, in the container that keeps it. */
export async function readOutput(
  { kube }: KubeHost,
  { outputFile }: Task,
  { namespace, name }: PodState,
  signal: AbortSignal,
): Promise<Pick<TaskOutcome, 'output' | 'outputProblem'>> {
  if (outputFile === undefined) return {}
  const place = { namespace, pod: name, container: keeperContainer }
  const command = ['sh', '-c', program, 'sh', keptOutput(outputFile)]
  const reading = await kube.exec(place, command, { hasTerminal: false, hasInput: false }, signal)
  reading.stderr.resume()
  const content = await beginningOf(reading.stdout, longestOutputBytes + 1)
  // A command that prints more than it was asked for is not waited for.
  if (content.length > longestOutputBytes) reading.close()
  const exitCode = content.length > longestOutputBytes ? 0 : await reading.exitCode()
  if (exitCode === codes.missing) return {}
  if (exitCode === codes.noFile) return { outputProblem: 'it is no file' }
  if (content.length > longestOutputBytes) return { outputProblem: 'it is longer than 1 MiB' }
  if (exitCode !== 0) return { outputProblem: `it could not be read (exit code ${exitCode ?? 'unknown'})` }
  return { output: content.toString() }
}
