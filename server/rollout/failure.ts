import type { State } from '@quayside/contract/states.ts'
import { BuildError } from '../builders/index.ts'
import { EngineError } from '../engines/index.ts'
import { GitError } from '../git/index.ts'
import { AppError } from '../lib/error.ts'
import { ResolveError } from '../variables/index.ts'
import { CanceledError, StepTimeoutError } from '../workflows/index.ts'

/** How a deployment of one service ended badly. */
export interface Failure {
  readonly state: State
  readonly reason: string
  readonly lastLines: readonly string[]
}

export const isDiskFull = (error: unknown): boolean =>
  (error instanceof BuildError || error instanceof EngineError) && error.reason === 'disk-full'

/**
 * What a thrown error means for the deployment; undefined for what is no outcome of it (a lost
 * lease, a database that is away, a bug): that goes on to the workflow, which runs again or gives
 * up.
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
