import { type Database, inTransaction, isUniqueViolation } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import {
  deleteRestriction,
  insertRestriction,
  listRestrictions,
  type RestrictionRow,
  type RestrictionValues,
  updateRestriction,
} from './restriction-store.ts'

/**
 * Creates the operations for deployment restrictions: the paths whose changes deploy a service
 * automatically.
 */
export function createRestrictions({ database, clock }: { database: Database; clock: Clock }) {
  return {
    list: (serviceId: string) => listRestrictions(database, serviceId),

    async create(serviceId: string, body: RestrictionValues): Promise<RestrictionRow> {
      checkPath(body.value)
      return inTransaction(database, async (sql) => {
        const row = { ...body, id: newId(), service_id: serviceId }
        return existing(await insertRestriction(sql, row, clock.now()), row.id)
      }).catch(taken(body))
    },

    async edit(serviceId: string, id: string, body: RestrictionValues): Promise<RestrictionRow> {
      checkPath(body.value)
      return inTransaction(database, async (sql) =>
        existing(await updateRestriction(sql, { serviceId, id }, body, clock.now()), id),
      ).catch(taken(body))
    },

    async remove(serviceId: string, id: string): Promise<void> {
      if (!(await deleteRestriction(database, serviceId, id))) throw notFound('deployment restriction', id)
    },
  }
}

/** Throws 400 unless the value is a path inside a repository. */
export function checkPath(value: string): void {
  const problem = problemOf(value)
  if (problem) throw new AppError('invalid', `value ${problem}.`)
}

function problemOf(value: string): string | undefined {
  if (value.trim() === '') return 'must not be empty'
  if (value.startsWith('/')) return 'must not begin with "/": paths are relative to the repository'
  if (/[\p{Cc}\\]/u.test(value)) return 'must not contain control characters or backslashes'
  return value.split('/').includes('..') ? 'must stay inside the repository' : undefined
}

function existing(row: RestrictionRow | undefined, id: string): RestrictionRow {
  if (!row) throw notFound('deployment restriction', id)
  return row
}

const taken =
  ({ mode, value }: RestrictionValues) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `The restriction ${mode} "${value}" already exists.`, { cause: error })
  }
