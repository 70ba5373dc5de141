import type { Operation } from '@quayside/contract'
import { AppError } from '../lib/error.ts'

/** What is being made a copy of something else can be read and deleted, nothing else: 409 for changes of it. */
export function refuseWhileCopied(
  { method }: Pick<Operation, 'method'>,
  target: Readonly<Record<string, unknown>> | undefined,
): void {
  if (method === 'GET' || method === 'DELETE' || !target?.['copying']) return
  throw new AppError('conflict', 'It is being copied at this moment. Try again when the copy is whole, or delete it.')
}
