import type { Operation } from '@quayside/contract'
import { AppError } from '../lib/error.ts'

/**
 * What is being made a copy of something else can be read and deleted, nothing else: 409 for changes of it. So with what is being restored
 * from a backup; that it is not deleted meanwhile is looked after where deletions are accepted.
 */
export function refuseWhileCopied(
  { method }: Pick<Operation, 'method'>,
  target: Readonly<Record<string, unknown>> | undefined,
): void {
  if (method === 'GET' || method === 'DELETE') return
  if (target?.['restoring']) {
    throw new AppError('conflict', 'It is being restored from a backup at this moment. Try again when that has ended.')
  }
  if (!target?.['copying']) return
  throw new AppError('conflict', 'It is being copied at this moment. Try again when the copy is whole, or delete it.')
}
