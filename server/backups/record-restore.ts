import { recordChange, serviceEntry } from '../audit/index.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import type { ServiceRow } from '../services/index.ts'
import type { BackupRow } from './backup-store.ts'

/** Writes the result of a restore into the audit log. */
export const recordRestore = (
  sql: Sql,
  service: ServiceRow,
  {
    id,
    name,
    restore_state: status,
    restore_reason: reason,
  }: Pick<BackupRow, 'id' | 'name' | 'restore_state' | 'restore_reason'>,
  now: Date,
): Promise<void> =>
  recordChange(
    sql,
    serviceEntry(service, {
      created_at: now,
      event_type: 'MAINTENANCE',
      origin: 'QOVERY_INTERNAL',
      by: { name: 'restore', caller: 'restore' },
      change: { backup: { id, name }, restore: { status, reason } },
      request_id: newId(),
    }),
  )
