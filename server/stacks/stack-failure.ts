import type { TaskOutcome } from '../engines/index.ts'
import { readDiagnosis } from './read-diagnosis.ts'
import { files, unchangedExitCode } from './runner-program.ts'
import type { Phase } from './stack-task.ts'

/** The work of each step of a run, as a message says it. */
const works: ReadonlyMap<string, string> = new Map([
  ['source', 'prepare its sources'],
  ['init', 'initialize'],
  ['plan', 'make a plan'],
  ['show', 'show its plan'],
  ['apply', 'apply its plan'],
  ['there', 'read the state of the backend of its files'],
  ['migrate', 'move its state'],
  ['check', 'read the moved state back'],
])

/** Pure: returns why a phase of a run failed and what to do. Undefined if it succeeded. */
export function stackFailure(
  outcome: Pick<TaskOutcome, 'exitCode' | 'timedOut' | 'outOfMemory' | 'lastLines' | 'files'>,
  limits: { readonly timeoutSeconds: number; readonly memoryMiB: number },
  phase: Phase['name'],
): string | undefined {
  const { exitCode, timedOut, outOfMemory, lastLines } = outcome
  if (timedOut) return `It took longer than ${limits.timeoutSeconds} s and was ended. Raise timeout_sec.`
  if (outOfMemory) return `It ran out of memory (${limits.memoryMiB} MiB). Raise job_resources.ram_mib.`
  if (exitCode === 0 || (phase === 'plan' && exitCode === unchangedExitCode)) return undefined
  const step = Buffer.from(outcome.files?.get(files.step)?.content ?? [])
  const work = works.get(step.toString().trim()) ?? 'run'
  const diagnosis = readDiagnosis(lastLines)
  if (diagnosis) return `The stack could not ${work}. ${diagnosis}`
  return `The stack could not ${work}: it ended with exit code ${exitCode}.`
}

/** Pure: says how much of the state of a lost run is kept. */
export const keptText = (serial: number | undefined): string =>
  serial === undefined
    ? 'No state of it is kept, so resources that it created are missing in the state.'
    : `Its state with serial ${serial} is kept, and may lack the last resources that it created.`
