import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { type AccountRow, findAccount, setCommunicationEmail } from './account-store.ts'
import { type ApiTokenRow, findApiToken } from './api-token-store.ts'
import type { Caller } from './caller.ts'
import { mailAddress } from './invitations.ts'

/** The caller's own account. A token has its name, and no address. */
export function createAccountInfo({ database, clock }: { database: Database; clock: Clock }) {
  const own = async (caller: Caller): Promise<AccountRow> => {
    const account = await findAccount(database, caller.id)
    if (!account) throw notFound('account', caller.id)
    return account
  }
  const info = async (caller: Caller) => {
    if (caller.kind === 'account') return accountInfo(await own(caller))
    const token = await findApiToken(database, caller.id)
    if (!token) throw notFound('API token', caller.id)
    return tokenInfo(token)
  }
  return {
    get: info,

    /** Null or undefined keeps the address that the person signs in with. */
    async edit(caller: Caller, body: { readonly communication_email?: string | null }) {
      const { communication_email: given } = body
      if (given && !mailAddress.test(given)) {
        throw new AppError('invalid', 'communication_email is not an email address.')
      }
      if (caller.kind === 'token') throw new AppError('forbidden', 'An API token has no account; sign in as a person.')
      if (given !== undefined) {
        await inTransaction(database, (sql) => setCommunicationEmail(sql, caller.id, given || null, clock.now()))
      }
      return accountInfo(await own(caller))
    },

    /** The answers of a sign-up form. This platform has none. */
    async signUp(caller: Caller) {
      const known = await info(caller)
      return {
        ...known,
        user_email: known.communication_email,
        type_of_use: 'WORK' as const,
        qovery_usage: '',
        company_name: null,
        company_size: null,
        user_role: null,
        qovery_usage_other: null,
        user_questions: null,
        current_step: null,
        dx_auth: null,
        infrastructure_hosting: null,
      }
    },
  }
}

const accountInfo = (row: AccountRow) => ({
  id: row.id,
  created_at: row.created_at,
  updated_at: row.updated_at,
  nickname: row.name,
  first_name: row.first_name,
  last_name: row.last_name,
  profile_picture_url: '',
  communication_email: row.communication_email ?? row.email ?? row.outside_email ?? '',
})

const tokenInfo = ({ id, created_at, updated_at, name }: ApiTokenRow) => ({
  id,
  created_at,
  updated_at,
  nickname: name,
  first_name: '',
  last_name: '',
  profile_picture_url: '',
  communication_email: '',
})
