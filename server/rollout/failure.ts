import type { State } from '@quayside/contract/states.ts'
import { BuildError } from '../builders/index.ts'
import { EngineError } from '../engines/index.ts'
import { GitError } from '../git/index.ts'
import { AppError } from '../lib/error.ts'
import { ResolveError } from '../variables/index.ts'
import { CanceledError, StepTimeoutError } from '../workflows/index.ts'

/** The outcome of a failed or cancelled deployment of one service. */
export interface Failure {
  readonly state: State
  readonly reason: string
  readonly lastLines: readonly string[]
}

export const isDiskFull = (error: unknown): boolean =>
  (error instanceof BuildError || error instanceof EngineError) && error.reason === 'disk-full'

/**
 * Returns the outcome that an error means for the deployment. Undefined for errors that are not an
 * outcome (a lost lease, an unreachable database, a bug): the workflow gets these and retries or
 * fails.
 */
export function toFailure(error: unknown, failed: State): Failure | undefined {
  if (error instanceof CanceledError) return { state: 'CANCELED', reason: 'It was cancelled.', lastLines: [] }
  if (error instanceof BuildError || error instanceof GitError) {
    return { state: failed === 'DEPLOYMENT_ERROR' ? 'BUILD_ERROR' : failed, reason: error.message, lastLines: [] }
  }
  if (error instanceof EngineError) return { state: failed, reason: error.message, lastLines: error.lastLines }
  if (error instanceof ResolveError || error instanceof StepTimeoutError || error instanceof AppError) {
    if (error instanceof AppError && error.code === 'unavailable') return undefined
    return { state: failed, reason: error.message, lastLines: [] }
  }
  return undefined
}
