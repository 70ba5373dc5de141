import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import {
  deleteGroup,
  findGroup,
  type GroupEntry,
  type GroupKind,
  type GroupRow,
  insertGroup,
  listGroupItems,
  listGroups,
  lockGroup,
  updateGroup,
} from './group-store.ts'
import { checkGroup, type GroupRequest } from './rules.ts'

/** A group by its id; the organization is that of the caller. */
interface Place {
  readonly organizationId: string
  readonly kind: GroupKind
  readonly id: string
}

export type Groups = ReturnType<typeof createGroups>

/** Creates the operations for annotations groups and labels groups of organizations. */
export function createGroups({ database, clock }: { database: Database; clock: Clock }) {
  const existing = async (sql: Sql, place: Place): Promise<GroupRow> => {
    const row = await findGroup(sql, place)
    if (!row) throw notFound(`${place.kind} group`, place.id)
    return row
  }
  return {
    list: (organizationId: string, kind: GroupKind) => listGroups(database, organizationId, kind),
    get: (place: Place) => existing(database, place),

    async items(place: Place) {
      await existing(database, place)
      return listGroupItems(database, place.id)
    },

    async create(organizationId: string, kind: GroupKind, body: GroupRequest): Promise<GroupRow> {
      const values = checkGroup(kind, body)
      const place = { organizationId, kind, id: newId() }
      return inTransaction(database, async (sql) => {
        await insertGroup(sql, { ...values, id: place.id, organization_id: organizationId, kind }, clock.now())
        return existing(sql, place)
      }).catch(nameTaken(values.name))
    },

    async edit(place: Place, body: GroupRequest): Promise<GroupRow> {
      const values = checkGroup(place.kind, body)
      return inTransaction(database, async (sql) => {
        await existing(sql, place)
        await updateGroup(sql, place.id, values, clock.now())
        return existing(sql, place)
      }).catch(nameTaken(values.name))
    },

    async remove(place: Place): Promise<void> {
      await inTransaction(database, async (sql) => {
        const { name } = await existing(sql, place)
        await lockGroup(sql, place.id)
        const users = await listGroupItems(sql, place.id)
        const first = users[0]
        if (first) {
          const count = users.length === 1 ? '' : ` and ${users.length - 1} more`
          throw new AppError(
            'conflict',
            `The group "${name}" is in use by "${first.item_name}"${count}. Remove it there first.`,
          )
        }
        await deleteGroup(sql, place.id)
      })
    },
  }
}

const nameTaken =
  (name: string) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `A group with the name "${name}" already exists.`, { cause: error })
  }

/** Returns a group as the API answers it. */
export const annotationsGroupRecord = <R extends GroupRow>({ entries, scopes, ...row }: R) => ({
  ...row,
  annotations: entries.map(({ key, value }) => ({ key, value })),
  scopes: [...scopes],
})
export const labelsGroupRecord = <R extends GroupRow>({ entries, ...row }: R) => ({
  ...row,
  labels: entries.map(labelRecord),
})
const labelRecord = ({ key, value, propagate_to_cloud_provider = false }: GroupEntry) => ({
  key,
  value,
  propagate_to_cloud_provider,
})
