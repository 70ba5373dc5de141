import type { Operation } from '@quayside/contract'
import { AppError } from '../lib/error.ts'

/**
 * Requests for deployments, and their cancellation. They wait in the queue until the data are
 * copied.
 */
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
 * copy can be read and deleted, and deployments of it can be requested. Nothing but reading is
 * possible while a backup is restored; deletions are checked when they are accepted.
 */
export function refuseWhileCopied(
  { method, event }: Pick<Operation, 'method' | 'event'>,
  target: Readonly<Record<string, unknown>> | undefined,
): void {
  if (method === 'GET' || method === 'DELETE') return
  if (target?.['restoring']) {
    throw new AppError('conflict', 'It is being restored from a backup at this moment. Try again when that has ended.')
  }
  if (!target?.['copying'] || (event && waiting.has(event.type))) return
  throw new AppError('conflict', 'It is being copied at this moment. Try again when the copy is whole, or delete it.')
}
