import { builtInRoles } from '@quayside/contract/roles.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { parseId } from '../lib/id.ts'
import { takeRoom } from '../limits/index.ts'
import {
  deleteMember,
  findMember,
  insertMember,
  listMembers,
  type MemberRow,
  replaceRole,
  setOwner,
  setRole,
} from './member-store.ts'
import { builtInRole, chooseRole, roleFields } from './roles.ts'

/** The people of an organization. Changes take effect with their next request. */
export function createMembers({ database, clock }: { database: Database; clock: Clock }) {
  return {
    async list(organizationId: string) {
      return (await listMembers(database, organizationId)).map(memberRecord)
    },

    async setRole(organizationId: string, body: { readonly user_id: string; readonly role_id: string }): Promise<void> {
      await inTransaction(database, async (sql) => {
        const member = await existing(sql, organizationId, body.user_id)
        const role = await chooseRole(sql, organizationId, 'role_id', body.role_id)
        if (role.role === 'OWNER') {
          throw new AppError('invalid', 'role_id must not be the role of the owner. Transfer the ownership instead.')
        }
        refuseOwner(member, 'have another role')
        await setRole(sql, organizationId, member.id, role, clock.now())
      })
    },

    async remove(organizationId: string, userId: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        const member = await existing(sql, organizationId, userId)
        refuseOwner(member, 'leave')
        await deleteMember(sql, organizationId, member.id)
      })
    },

    /** Transfers the ownership. The previous owner becomes an admin. */
    async transferOwnership(organizationId: string, userId: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        const member = await existing(sql, organizationId, userId)
        if (member.role !== 'OWNER') await takeRoom(sql, 'organizations', member.id)
        await replaceRole(sql, organizationId, 'OWNER', 'ADMIN', clock.now())
        await setRole(sql, organizationId, member.id, builtInRole('OWNER'), clock.now())
        await setOwner(sql, organizationId, member.id, clock.now())
      })
    },
  }
}

/** Makes a person the owner of an organization without one, in the caller's transaction. */
export async function addOwner(sql: Sql, organizationId: string, accountId: string, now: Date): Promise<void> {
  await takeRoom(sql, 'organizations', accountId)
  await insertMember(sql, { organization_id: organizationId, account_id: accountId, ...builtInRole('OWNER') }, now)
  await setOwner(sql, organizationId, accountId, now)
}

async function existing(sql: Sql, organizationId: string, userId: string): Promise<MemberRow> {
  const id = parseId(userId)
  const member = id && (await findMember(sql, organizationId, id))
  if (!member) throw notFound('member', id, { field: 'user_id' })
  return member
}

function refuseOwner({ role, name }: MemberRow, what: string): void {
  if (role !== 'OWNER') return
  throw new AppError('conflict', `"${name}" owns the organization and cannot ${what}. Transfer the ownership first.`)
}

/** The role names of older clients. */
export const formerRoles = ['ADMIN', 'DEVELOPER', 'OWNER', 'VIEWER'] as const
export type FormerRole = (typeof formerRoles)[number]

export function formerRole({ role, permissions = [] }: Pick<MemberRow, 'role'> & Partial<MemberRow>): FormerRole {
  if (role === 'OWNER') return 'OWNER'
  if (role === null) return permissions.includes('ADMIN') ? 'ADMIN' : 'DEVELOPER'
  if (builtInRoles[role].organization.some((permission) => permission === 'ADMIN')) return 'ADMIN'
  return role === 'DEVOPS' ? 'DEVELOPER' : 'VIEWER'
}

const memberRecord = (row: MemberRow) => ({
  ...row,
  ...roleFields(row.organization_id, row),
  nickname: row.name,
  email: row.email ?? '',
  profile_picture_url: null,
  last_activity_at: row.last_used_at,
  role: formerRole(row),
})
