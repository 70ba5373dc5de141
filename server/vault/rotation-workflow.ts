import type { Database, Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { failpoint } from '../lib/failpoint.ts'
import { SealError, type SealedColumn } from '../lib/seal.ts'
import type { RunContext, Workflow } from '../workflows/index.ts'
import { deleteFormerKeys } from './key-store.ts'
import {
  endRotation,
  findMoment,
  findRotation,
  hasOlderTransaction,
  type RotationRow,
  unfinishedRotations,
} from './rotation-store.ts'
import { listSealedColumns } from './sealed-columns.ts'
import { countSealed, lockSealed, replaceSealed, type SealedText } from './sealed-store.ts'
import type { Vault } from './vault.ts'

export const keyRotationWorkflow = 'key-rotation'

export interface KeyRotationWorkflowOptions {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
}

interface Input {
  readonly organizationId: string
  readonly rotationId: string
  readonly [key: string]: string
}

/** Texts per transaction. A change of one of them waits for the transaction. */
const batch = 100
const daySeconds = 24 * 3600
const pollMs = 50

/**
 * Seals all texts of an organization's previous keys with the new one, then deletes the previous
 * keys.
 */
export function createKeyRotationWorkflow(options: KeyRotationWorkflowOptions): Workflow<Input> {
  return {
    name: keyRotationWorkflow,
    async run({ organizationId, rotationId }, step, context) {
      const row = await findRotation(options.database, organizationId)
      if (row?.id !== rotationId || row.ended_at !== null) return
      const columns = await listSealedColumns(options.database)
      const work = { ...options, columns, row, context }
      await step('SEAL', ({ signal }) => sealUntilDone(work, signal), { deadlineSeconds: daySeconds })
    },
    abandoned: ({ rotationId }, reason, sql) =>
      endRotation(sql, rotationId, options.clock.now(), `${reason}; the previous keys are kept. Rotate again.`),
    unfinished: unfinishedRotations,
  }
}

interface Work extends KeyRotationWorkflowOptions {
  readonly columns: readonly SealedColumn[]
  readonly row: RotationRow
  readonly context: RunContext
}

/**
 * Seals texts until none of a previous key remains. A transaction that began before the new key
 * became valid may still write a text with a previous key, so the remaining texts are counted after
 * all of those transactions have ended. Later ones see only the new key.
 */
async function sealUntilDone(work: Work, signal: AbortSignal): Promise<void> {
  const { clock, columns, context, database } = work
  for (;;) {
    const damaged: string[] = []
    for (const column of columns) damaged.push(...(await sealColumn(work, column, signal)))
    failpoint('rotation.sealed')
    const moment = await findMoment(database)
    while (await hasOlderTransaction(database, moment)) await clock.sleep(pollMs, signal)
    const left = await context.fenced((sql) => endIfDone(sql, work))
    if (left === 0) return
    if (left <= damaged.length) throw new Error(damagedText(damaged))
    await clock.sleep(pollMs, signal)
  }
}

const damagedText = (rows: readonly string[]): string =>
  `${rows.slice(0, 3).join(', ')}${rows.length > 3 ? ` and ${rows.length - 3} more` : ''} cannot be opened ` +
  'by the key that sealed it. Set the value of that secret again, or delete it'

/**
 * Counts the remaining texts of the previous keys. If there are none, deletes these keys, which are
 * then useful only to an attacker, and ends the rotation. Returns the count.
 */
async function endIfDone(sql: Sql, { clock, columns, row }: Work): Promise<number> {
  const left = await countSealed(sql, columns, { keys: row.former_keys })
  if (left > 0) return left
  await deleteFormerKeys(sql, row.organization_id)
  await endRotation(sql, row.id, clock.now(), null)
  return 0
}

/** Returns the places of texts that cannot be opened. */
async function sealColumn(work: Work, of: SealedColumn, signal: AbortSignal): Promise<string[]> {
  const damaged: string[] = []
  const by = { keys: work.row.former_keys }
  for (let after: readonly string[] | undefined; ; ) {
    signal.throwIfAborted()
    const texts = await work.context.fenced(async (sql) => {
      // Skips rows that another transaction is changing until the next pass, to avoid a deadlock.
      const found = await lockSealed(sql, of, by, { limit: batch, after, passBusy: true })
      damaged.push(...(await sealTexts(sql, work, of, found)))
      return found
    })
    if (texts.length > 0) failpoint('rotation.sealing')
    after = texts.at(-1)?.row
    if (texts.length < batch) return damaged
  }
}

async function sealTexts(
  sql: Sql,
  { vault, row }: Work,
  of: SealedColumn,
  texts: readonly SealedText[],
): Promise<string[]> {
  const { organization_id: organization } = row
  const [opened, damaged]: [{ row: readonly string[]; text: string }[], string[]] = [[], []]
  const cellOf = (key: readonly string[]) => ({ table: of.table, row: key.join(' '), column: of.column })
  for (const { row: key, sealed } of texts) {
    try {
      opened.push({ row: key, text: (await vault.open(sql, organization, cellOf(key), sealed)).reveal() })
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      damaged.push(`${of.table}.${of.column} of ${key.join(' ')}`)
    }
  }
  const anew = await vault.sealAll(
    sql,
    organization,
    opened.map(({ row: key, text }) => ({ cell: cellOf(key), text })),
  )
  await Promise.all(opened.map(({ row: key }, index) => replaceSealed(sql, of, key, anew[index] ?? '')))
  return damaged
}
