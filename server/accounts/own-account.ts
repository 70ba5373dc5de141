import { createHmac, timingSafeEqual } from 'node:crypto'
import type Provider from 'oidc-provider'
import type { AccountRow } from '../access/index.ts'
import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Vault } from '../vault/index.ts'
import { accountPage, type ListedSession } from './account-pages.ts'
import type { Devices } from './devices.ts'
import { readForm } from './form.ts'
import { accountPath, ownAccounts } from './issuer.ts'
import { addressOf } from './outside-stay.ts'
import { findPasswords, savePassword } from './password-store.ts'
import { checkPassword, hashPassword, inTurnOfClient } from './passwords.ts'
import { digest, payloadCell } from './record-adapter.ts'
import { failureOf } from './refusal.ts'
import { type Exchange, queryOf, redirect, refuse, send } from './send-page.ts'
import { endSessions, listSessions, type SessionRow } from './session-store.ts'
import type { Attempt } from './sign-in.ts'
import { accountClient, signInAddress } from './sign-in-address.ts'

export interface OwnAccountOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly publicUrl: string
  readonly pepper: Buffer
  readonly devices: Devices
  readonly signIn: (attempt: Attempt) => Promise<string>
  /** Finds an account whose sign-in still counts. */
  readonly findAccount: (id: string) => Promise<AccountRow | undefined>
}

/** The signed-in person of a request, and the session of the browser. */
interface Visit {
  readonly account: AccountRow
  /** The hash of the session's id. */
  readonly session: string
  /** The token of the forms of this session. */
  readonly token: string
}
type Fields = Partial<Record<string, string>>

/** How long sessions and refresh tokens last after their last use. */
const fortnightMs = 14 * 24 * 3600_000

/** The page on which people change their password, and see and end their sessions. */
export function createOwnAccount(options: OwnAccountOptions) {
  const { database, vault, clock, publicUrl, pepper, devices, signIn, findAccount } = options
  const tokenOf = (sessionUid: string): string =>
    createHmac('sha256', pepper).update(`forms of an account\n${sessionUid}`).digest('base64url')

  async function visitOf({ request, response }: Exchange, issuer: Provider): Promise<Visit | undefined> {
    const session = await issuer.Session.get(issuer.createContext(request, response))
    const account = session.accountId === undefined ? undefined : await findAccount(session.accountId)
    return account && { account, session: digest(session.jti), token: tokenOf(session.uid) }
  }

  async function sessionsOf({ account, session }: Visit): Promise<ListedSession[]> {
    const rows = await listSessions(database, account.id, clock.now())
    return Promise.all(rows.map(async (row) => listed(row, await open(row), session)))
  }

  async function open({ model, id_hash, sealed_payload }: SessionRow): Promise<Record<string, unknown>> {
    return Object(JSON.parse((await vault.openOwn(payloadCell(model, id_hash), sealed_payload)).reveal()))
  }

  async function changePassword({ account, session }: Visit, fields: Fields, { request, address }: Exchange) {
    const { current = '', next = '' } = fields
    const { email } = account
    if (email === null) throw new AppError('forbidden', 'Your password is kept by the issuer that signs you in.')
    checkPassword('The new password', next)
    const known = devices.of(request.headers.cookie, clock.now())
    const found = await signIn({ email, password: current, address, devices: known }).catch(asCurrent)
    if (found !== account.id) throw wrongPassword()
    const others = (await findPasswords(database, email)).filter(({ account_id }) => account_id !== account.id)
    if (others.length > 0) await refuseTaken({ email, password: next, address })
    const [like] = others
    const hashed = await inTurnOfClient(address, () => hashPassword(next, like))
    const now = clock.now()
    await inTransaction(database, async (sql) => {
      await savePassword(sql, account.id, hashed, now)
      await endSessions(sql, account.id, { except: session }, now)
    })
    return 'The password is changed, and all other sessions have ended.'
  }

  /**
   * The password selects an account if several have the address. So a new one must not be that of
   * another account, and trying one is an attempt to sign in.
   */
  async function refuseTaken(attempt: Attempt): Promise<void> {
    const isFree = await signIn(attempt).then(
      () => false,
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'unauthorized') return true
        throw error
      },
    )
    if (!isFree) throw new AppError('invalid', 'This password cannot be used. Choose another one.')
  }

  async function act(visit: Visit, fields: Fields, exchange: Exchange): Promise<string> {
    const { account, session, token } = visit
    const [given, wanted] = [Buffer.from(fields['form'] ?? ''), Buffer.from(token)]
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
      throw new AppError('forbidden', 'The form was not sent from this page. Try again.')
    }
    const { action, id = '' } = fields
    if (action === 'password') return changePassword(visit, fields, exchange)
    if (action !== 'end' && action !== 'end-others') throw new AppError('invalid', 'This form is unknown. Try again.')
    const ended = action === 'end' ? { idHash: id } : { except: session }
    await inTransaction(database, (sql) => endSessions(sql, account.id, ended, clock.now()))
    return action === 'end' ? 'The session has ended.' : 'All other sessions have ended.'
  }

  return async (exchange: Exchange, issuer: Provider): Promise<void> => {
    const { request, response } = exchange
    const visit = await visitOf(exchange, issuer)
    const redirectUri = `${publicUrl}${accountPath}`
    if (!visit)
      return redirect(response, signInAddress(publicUrl, { client: accountClient, redirectUri, state: 'account' }))
    // The code of the sign-in is not used: the session says who signed in.
    if (request.method !== 'POST' && queryOf(request) !== '') return redirect(response, accountPath)
    const fields = request.method === 'POST' ? await readForm(request) : undefined
    let notice: string | undefined
    const failure = await failureOf(async () => {
      if (fields) notice = await act(visit, fields, exchange)
    })
    const page = accountPage({
      ...{ token: visit.token, person: addressOf(visit.account), home: publicUrl },
      hasPassword: visit.account.issuer === ownAccounts,
      sessions: await sessionsOf(visit),
      now: clock.now(),
      ...(failure ? { problem: failure.problem } : notice !== undefined ? { notice } : {}),
    })
    return failure ? refuse(response, failure, page) : send(response, 200, page)
  }
}

/** Pure: returns a session as the page shows it. */
function listed(
  { model, id_hash, expires_at, agent }: SessionRow,
  payload: Record<string, unknown>,
  own: string,
): ListedSession {
  const begun = payload['loginTs'] ?? payload['iiat'] ?? payload['iat']
  return {
    id: id_hash,
    isBrowser: model === 'Session',
    isOwn: model === 'Session' && id_hash === own,
    agent: agent ?? '',
    begunAt: typeof begun === 'number' ? new Date(begun * 1000) : undefined,
    usedAt: expires_at === null ? undefined : new Date(expires_at.getTime() - fortnightMs),
  }
}

const wrongPassword = (): AppError => new AppError('forbidden', 'The current password is wrong.')

/** The person is signed in. Only the password that was typed is wrong. */
function asCurrent(error: unknown): never {
  throw error instanceof AppError && error.code === 'unauthorized' ? wrongPassword() : error
}
