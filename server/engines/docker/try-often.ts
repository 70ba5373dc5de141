import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type EngineReason } from '../engine.ts'
import type { ImageReference } from './image-reference.ts'
import type { RegistryTools } from './registry/registries.ts'
import { type ProblemKind, pauseMs, problemText, pushProblemText, RegistryProblem } from './registry-problem.ts'

/** The reason why no answer arrived, with the message for people. */
export interface Problem {
  readonly problem: ProblemKind
  readonly text: string
}

const reasons: Partial<Record<ProblemKind, EngineReason>> = {
  away: 'registry-away',
  busy: 'registry-away',
  'disk-full': 'disk-full',
  address: 'refused',
  size: 'refused',
}
export const toError = ({ problem, text }: Problem): EngineError =>
  new EngineError(reasons[problem] ?? 'image-missing', text)

/** A try that fetched this much resets the number of tries. */
const progressBytes = 1024 * 1024

/** Retries until an answer arrives, a retry cannot help, or `isEnough` accepts the problem. */
export async function tryOften<T>(
  { clock }: Pick<RegistryTools, 'clock'>,
  { host, name, tag, digest }: ImageReference,
  { signal, output }: Attempt,
  { ask, isEnough, bytes }: { ask: () => Promise<T>; isEnough: (kind: ProblemKind) => boolean; bytes: () => number },
): Promise<T | Problem> {
  const image = digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
  let hadBytes = 0
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      const { kind: problem, message: said } = problemOf(error)
      const text = problemText(problem, image, host, said)
      if (bytes() - hadBytes >= progressBytes) tries = 1
      hadBytes = bytes()
      const pause = isEnough(problem) ? undefined : pauseMs(problem, tries)
      if (pause === undefined) return { problem, text }
      output.line(`${text.replace(/\. [^.]+$/, '.')} Trying again in ${pause / 1000} s.`, 'warning')
      await clock.sleep(pause, signal)
    }
  }
}

/** Retries work of a push until it succeeds or a retry cannot help. */
export async function tryPush<T>(
  { clock }: Pick<RegistryTools, 'clock'>,
  { host, name }: ImageReference,
  { signal, output }: Attempt,
  work: () => Promise<T>,
): Promise<T | Problem> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      const { kind: problem, message: said } = problemOf(error)
      const text = pushProblemText(problem, name, host, said)
      const pause = pauseMs(problem, tries)
      if (pause === undefined) return { problem, text }
      output.line(`${text.replace(/\. [^.]+$/, '.')} Trying again in ${pause / 1000} s.`, 'warning')
      await clock.sleep(pause, signal)
    }
  }
}

/** Rethrows an error that does not come from a registry. */
function problemOf(error: unknown): RegistryProblem {
  if (error instanceof RegistryProblem) return error
  if (/^(?:ENOSPC|EDQUOT)$/.test(String(Object(error).code))) {
    return new RegistryProblem('disk-full', 'no space left on device', { cause: error })
  }
  throw error
}
