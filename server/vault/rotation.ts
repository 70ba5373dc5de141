import type { KeyRotation } from '@quayside/contract/resources/organization.ts'
import type { Static } from '@quayside/contract/schema.ts'
import { afterCommit, type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Workflows } from '../workflows/index.ts'
import { findRotation, insertRotation, listOrganizations, type RotationRow, setFormerKeys } from './rotation-store.ts'
import { keyRotationWorkflow } from './rotation-workflow.ts'
import { listSealedColumns } from './sealed-columns.ts'
import { countSealed } from './sealed-store.ts'
import type { Vault } from './vault.ts'

export interface KeyRotationsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
}

type KeyRotationRecord = Static<typeof KeyRotation>

/**
 * Rotates the data keys of organizations. The new key seals new texts at once, and the workflow
 * seals the existing ones again.
 */
export function createKeyRotations({ database, clock, vault, workflows }: KeyRotationsOptions) {
  /** Returns false if a rotation is in progress. */
  async function begin(organizationId: string): Promise<boolean> {
    const isBegun = await inTransaction(database, async (sql) => {
      const id = newId()
      if (!(await insertRotation(sql, { organization_id: organizationId, id, started_at: clock.now() }))) return false
      await setFormerKeys(sql, id, await vault.addKey(sql, organizationId))
      const [kind, key] = [keyRotationWorkflow, `keys of ${organizationId}`]
      const input = { organizationId, rotationId: id }
      await workflows.submit(sql, { id, kind, key, input, countsFor: { organizationId } })
      return true
    })
    if (isBegun) afterCommit(() => workflows.nudge())
    return isBegun
  }

  async function get(organizationId: string): Promise<KeyRotationRecord> {
    const row = await findRotation(database, organizationId)
    const isOver = row === undefined || stateOf(row) === 'SUCCESS'
    const old_key_rows = isOver
      ? 0
      : await countSealed(database, await listSealedColumns(database), { keys: row.former_keys })
    return {
      state: stateOf(row),
      old_key_rows,
      started_at: row?.started_at ?? null,
      ended_at: row?.ended_at ?? null,
      reason: row?.failure ?? null,
    }
  }

  return {
    get,

    async rotate(organizationId: string): Promise<KeyRotationRecord> {
      if (await begin(organizationId)) return get(organizationId)
      throw new AppError(
        'conflict',
        'The keys of this organization are already being rotated. Read its keyRotation, and try again when ' +
          'that has ended.',
      )
    },

    /**
     * Rotates the keys of all organizations. Returns how many rotations it began and how many were
     * already in progress.
     */
    async rotateAll(): Promise<{ readonly begun: number; readonly underWay: number }> {
      const counts = { begun: 0, underWay: 0 }
      for (const { id } of await listOrganizations(database)) counts[(await begin(id)) ? 'begun' : 'underWay']++
      return counts
    },
  }
}

function stateOf(row: RotationRow | undefined): KeyRotationRecord['state'] {
  if (!row) return 'NEVER_ROTATED'
  if (row.ended_at === null) return 'RUNNING'
  return row.failure === null ? 'SUCCESS' : 'ERROR'
}
