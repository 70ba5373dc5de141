import type { Sql } from '../database/index.ts'
import { type BackupRow, deleteBackup, listEnded } from './backup-store.ts'
import { findPolicy } from './policy-store.ts'

export const usualKeep = 7

type Judged = Pick<BackupRow, 'id' | 'state' | 'proof_state' | 'restore_state'>

/**
 * Pure: returns the surplus backups of a service, given newest first. Of the successful ones `keep`
 * stay. The newest proven one, restored ones and those in use stay, too. Of the failed ones at most
 * `keep` stay, and only those newer than the oldest kept one.
 */
export function surplus(newestFirst: readonly Judged[], keep: number): string[] {
  const made = newestFirst.filter(({ state }) => state === 'SUCCEEDED')
  const kept = new Set(made.slice(0, keep))
  const proven = made.find(({ proof_state }) => proof_state === 'PROVEN')
  if (proven) kept.add(proven)
  const oldest = made.at(Math.min(keep, made.length) - 1)
  const place = oldest ? newestFirst.indexOf(oldest) : newestFirst.length
  const failed = newestFirst.filter(({ state }) => state === 'FAILED')
  for (const one of failed.slice(0, keep)) if (newestFirst.indexOf(one) < place) kept.add(one)
  const isNeeded = ({ proof_state, restore_state }: Judged) => proof_state === 'RUNNING' || restore_state !== 'NONE'
  return newestFirst.filter((one) => !kept.has(one) && !isNeeded(one)).map(({ id }) => id)
}

/** Deletes the surplus backups of a service, by its policy. */
export async function prune(sql: Sql, serviceId: string): Promise<void> {
  const policy = await findPolicy(sql, serviceId)
  for (const id of surplus(await listEnded(sql, serviceId), policy?.keep ?? usualKeep)) await deleteBackup(sql, id)
}
