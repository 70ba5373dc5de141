import { createHmac } from 'node:crypto'
import { rightsOf } from '@quayside/contract/roles.ts'
import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import { decodeBase64url } from '../lib/base64url.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newRandomId, parseId } from '../lib/id.ts'
import { findAccount } from './account-store.ts'
import { type Caller, mayOn } from './caller.ts'
import {
  deleteInvitation,
  findInvitation,
  findInvitationById,
  findInvitationTo,
  type InvitationRow,
  insertInvitation,
  listInvitations,
  lockInvitation,
} from './invitation-store.ts'
import { insertMember, isMemberAddress } from './member-store.ts'
import { type FormerRole, formerRole } from './members.ts'
import { builtInRole, chooseRole, roleFields } from './roles.ts'
import { sameHash } from './token.ts'

const lifetimeMs = 7 * 24 * 3600 * 1000
export const mailAddress = /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,255}$/
/** The role for each of the older role names. Nobody can be invited as an owner. */
const invitable = { ADMIN: 'ADMIN', DEVELOPER: 'DEVOPS', VIEWER: 'VIEWER' } as const

export interface InvitationRequest {
  readonly email: string
  readonly role?: FormerRole
  readonly role_id?: string
}

export interface InvitationsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly pepper: Buffer
  readonly publicUrl: string
}
export type Invitations = ReturnType<typeof createInvitations>

/**
 * Invitations by email address. No mail is sent: the inviter passes the link on. Only the link
 * proves that its holder was invited, because anybody can have an account with any address. An
 * invitation ends when its inviter may no longer invite.
 */
export function createInvitations({ database, clock, pepper, publicUrl }: InvitationsOptions) {
  /** Computed from the id and a key outside the database, so it needs no column. */
  const proofOf = (id: string): Buffer => createHmac('sha256', pepper).update(`invitation ${id}`).digest()
  const link = (id: string, whole: boolean): string =>
    `${publicUrl}/join/${id}${whole ? `.${proofOf(id).toString('base64url')}` : ''}`
  const record = (row: InvitationRow, whole: boolean) => ({
    ...row,
    ...roleFields(row.organization_id, row),
    role: formerRole(row),
    invitation_link: link(row.id, whole),
    invitation_status: isOpen(row) ? ('PENDING' as const) : ('EXPIRED' as const),
    logo_url: row.organization_logo_url,
  })
  const isOpen = (row: InvitationRow): boolean => row.expires_at > clock.now() && inviterMayInvite(row)

  return {
    /** For callers who may invite. */
    async list(organizationId: string) {
      return (await listInvitations(database, organizationId)).map((row) => record(row, true))
    },

    async create(organizationId: string, caller: Caller, body: InvitationRequest) {
      const email = body.email.trim()
      if (!mailAddress.test(email)) throw new AppError('invalid', 'email is not an email address.')
      const now = clock.now()
      const row = await inTransaction(database, async (sql) => {
        const { role, custom_role_id } = await wantedRole(sql, organizationId, body)
        if (await isMemberAddress(sql, organizationId, email)) {
          throw new AppError('conflict', `"${email}" is already a member.`)
        }
        const former = await findInvitationTo(sql, organizationId, email)
        if (former && !isOpen(former)) await deleteInvitation(sql, organizationId, former.id)
        const id = newRandomId()
        const expires_at = new Date(now.getTime() + lifetimeMs)
        const inviter = { inviter: caller.name, inviter_account_id: caller.accountId ?? null }
        const wanted = { id, organization_id: organizationId, email, role, custom_role_id, ...inviter }
        await insertInvitation(sql, { ...wanted, expires_at }, now)
        return findInvitation(sql, organizationId, id)
      }).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error
        throw new AppError('conflict', `"${email}" is already invited.`, { cause: error })
      })
      return record(existing(row), true)
    },

    /** For callers who may invite. */
    async get(organizationId: string, id: string) {
      return record(existing(await findInvitation(database, organizationId, id), id), true)
    },

    /**
     * Makes the caller a member. `given` is the link, or its last part, and proves the invitation.
     * Its address must be that of the account, so that nobody appears in the organization under an
     * address that it did not invite.
     */
    async accept(organizationId: string, id: string, caller: Caller, given = '') {
      const row = await open(given.slice(given.lastIndexOf('/') + 1))
      if (row?.id !== id || row.organization_id !== organizationId) {
        throw notFound('invitation', id, { advice: 'Send its complete link as `invitation_link`.' })
      }
      if (!(await hasAddress(database, row, caller))) {
        const whose = `an account with the address "${row.email}"`
        throw new AppError(
          'forbidden',
          `Sign in with ${whose}, or open the link in a browser. API tokens cannot accept.`,
        )
      }
      await inTransaction(database, (sql) => join(sql, row, caller.id))
      return record(row, false)
    },

    async remove(organizationId: string, id: string): Promise<void> {
      if (!(await deleteInvitation(database, organizationId, id))) throw notFound('invitation', id)
    },

    open,

    /**
     * Makes the account a member and ends the invitation, in the caller's transaction. Throws 409
     * if that is impossible.
     */
    join,
  }

  /**
   * Returns the invitation of a link `<id>.<proof>`. Undefined if the proof is wrong, or the
   * invitation was deleted or has ended.
   */
  async function open(text: string): Promise<InvitationRow | undefined> {
    const [, id = '', proof = ''] = /^([0-9a-f-]{36})\.([\w-]{43})$/.exec(text) ?? []
    const given = decodeBase64url(proof)
    if (!parseId(id) || !given || !sameHash(given, proofOf(id))) return undefined
    const row = await findInvitationById(database, id)
    return row && isOpen(row) ? row : undefined
  }

  async function join(sql: Sql, { id }: Pick<InvitationRow, 'id'>, accountId: string): Promise<void> {
    const row = existing(await lockInvitation(sql, id), id)
    if (!isOpen(row)) throw new AppError('conflict', 'The invitation has expired. Ask for a new one.')
    const { organization_id, role, custom_role_id, organization_name, email } = row
    await deleteInvitation(sql, organization_id, id)
    if (await isMemberAddress(sql, organization_id, email)) {
      throw new AppError('conflict', `"${email}" is already a member of "${organization_name}".`)
    }
    const isNew = await insertMember(sql, { organization_id, account_id: accountId, role, custom_role_id }, clock.now())
    if (!isNew) throw new AppError('conflict', `You are already a member of "${organization_name}".`)
  }
}

/** Pure: whether the person who invited may still do so. */
function inviterMayInvite(row: InvitationRow): boolean {
  if (row.inviter_permissions === null) return true
  const { inviter_role: role, inviter_custom_rights: custom_rights, inviter_permissions: permissions } = row
  return mayOn({ rights: rightsOf({ role, custom_rights, permissions }) }, 'admin', {})
}

async function hasAddress(sql: Sql, { email }: InvitationRow, caller: Caller): Promise<boolean> {
  if (caller.kind !== 'account') return false
  const account = await findAccount(sql, caller.id)
  return account?.email?.toLowerCase() === email.toLowerCase()
}

async function wantedRole(sql: Sql, organizationId: string, body: InvitationRequest) {
  const { role, role_id } = body
  if (role_id !== undefined) {
    const chosen = await chooseRole(sql, organizationId, 'role_id', role_id)
    if (chosen.role === 'OWNER') throw new AppError('invalid', 'role_id must not be the role of the owner.')
    return chosen
  }
  if (role === 'OWNER') throw new AppError('invalid', 'role must not be OWNER. Transfer the ownership instead.')
  return builtInRole(role === undefined ? 'VIEWER' : invitable[role])
}

function existing(row: InvitationRow | undefined, id?: string): InvitationRow {
  if (!row) throw notFound('invitation', id)
  return row
}
