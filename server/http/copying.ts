import type { Operation } from '@quayside/contract'
import { AppError } from '../lib/error.ts'

/** Deployment requests and cancellations. Requests wait in the queue until the data are copied. */
const waiting: ReadonlySet<string> = new Set([
  'TRIGGER_DEPLOY',
  'TRIGGER_REDEPLOY',
  'TRIGGER_STOP',
  'TRIGGER_RESTART',
  'TRIGGER_UNINSTALL',
  'TRIGGER_CANCEL',
])

/**
 * Throws 409 for changes of an environment or service whose data are being copied or restored. A
 * copy can be read, deleted, and accepts deployment requests. During a restore only reading is
 * possible. Deletions are checked when they are accepted.
 */
export function refuseWhileCopied(
  { method, event }: Pick<Operation, 'method' | 'event'>,
  target: Readonly<Record<string, unknown>> | undefined,
): void {
  if (method === 'GET' || method === 'DELETE') return
  if (target?.['restoring']) {
    throw new AppError('conflict', 'A restore from a backup is in progress. Try again when it has ended.')
  }
  if (!target?.['copying'] || (event && waiting.has(event.type))) return
  throw new AppError('conflict', 'The copy is still in progress. Try again when it is complete, or delete it.')
}
