import type { Database, Sql } from '../database/index.ts'
import { inTransaction, withOwner } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { lockedText } from './locked-text.ts'
import { endStackRun, findBackend, findLock, insertStackRun } from './stack-store.ts'
import type { StackOwner, StacksOptions } from './stacks.ts'
import { stateCell } from './stacks.ts'
import { renumbering } from './state-serial.ts'
import { findState, findStateById, insertState, keptSerial, listStates, type StackStateRow } from './state-store.ts'

/** A version of a state as the API lists it, without its content. */
export async function stateVersions(sql: Sql, serviceId: string) {
  const rows = await listStates(sql, serviceId)
  return rows.map(({ bytes, ...row }, index) => ({ ...row, size_in_bytes: bytes, is_current: index === 0 }))
}

/**
 * Makes the content of an earlier version the newest version of the state. Throws AppError
 * `notFound` if the stack has no such version, and `conflict` if it is the newest one or if a run
 * has the lock of the stack.
 */
export async function restoreState(
  database: Database,
  options: StacksOptions,
  owner: StackOwner,
  stateId: string,
): Promise<Awaited<ReturnType<typeof stateVersions>>[number]> {
  const { serviceId, organizationId } = owner
  const former = await findStateById(database, serviceId, stateId)
  if (!former) throw notFound('state', stateId)
  const opened = await options.vault.open(database, organizationId, stateCell(former.id), former.sealed_state)
  // It may take a moment, so no transaction waits.
  const text = opened.reveal()
  const renumber = await withOwner(organizationId, () => renumbering(text))
  return inTransaction(database, async (sql) => {
    const wanted = await findStateById(sql, serviceId, stateId)
    if (!wanted) throw notFound('state', stateId)
    if (wanted.sealed_state !== former.sealed_state) throw new AppError('conflict', changed)
    if ((await findBackend(sql, serviceId)) === 'user_provided') throw new AppError('conflict', elsewhere)
    await holdLock(sql, options, serviceId, (run) => addVersion(sql, options, owner, { wanted, run, text, renumber }))
    const [restored] = await stateVersions(sql, serviceId)
    if (!restored) throw new Error(`the restored state of stack ${serviceId} is gone`)
    return restored
  })
}

const changed = 'A run has changed this version of the state a moment ago. Try again.'
const elsewhere =
  'The state of the stack is in the backend of its files. Restore it there, or move it to the platform first.'

/** Does the work while no run can begin. */
async function holdLock(
  sql: Sql,
  { clock }: StacksOptions,
  serviceId: string,
  work: (run: string) => Promise<void>,
): Promise<void> {
  const [id, now] = [newId(), clock.now()]
  const of = { service_id: serviceId, release_id: null, request_id: null, backend: null }
  if (!(await insertStackRun(sql, { id, ...of, action: 'RESTORE_STATE', created_at: now }))) {
    const lock = await findLock(sql, serviceId)
    if (!lock) throw new AppError('conflict', 'The stack was locked a moment ago. Try again.')
    throw new AppError('conflict', lockedText(lock, await keptSerial(sql, serviceId, lock.id)))
  }
  await work(id)
  await endStackRun(sql, id, { status: 'SUCCESS', reason: null, now })
}

interface Restoring {
  readonly wanted: StackStateRow
  readonly run: string
  readonly text: string
  readonly renumber: (serial: number) => string | undefined
}

async function addVersion(
  sql: Sql,
  { vault, clock }: StacksOptions,
  { serviceId, organizationId }: StackOwner,
  { wanted, run, text: former, renumber }: Restoring,
): Promise<void> {
  const newest = await findState(sql, serviceId)
  if (!newest || newest.id === wanted.id) {
    throw new AppError('conflict', `Version ${wanted.number} is the newest one of the state already.`)
  }
  // Backends refuse a state whose serial is not above the one that they have.
  const next = Math.max(newest.serial, wanted.serial) + 1
  const renumbered = renumber(next)
  const [text, serial] = renumbered === undefined ? [former, wanted.serial] : [renumbered, next]
  const id = newId()
  await insertState(sql, {
    id,
    service_id: serviceId,
    number: newest.number + 1,
    run_id: run,
    created_at: clock.now(),
    serial,
    lineage: wanted.lineage,
    bytes: Buffer.byteLength(text),
    sealed_state: await vault.seal(sql, organizationId, stateCell(id), text),
    restored_from: wanted.number,
  })
}
