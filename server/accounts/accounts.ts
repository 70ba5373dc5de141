import type Provider from 'oidc-provider'
import type { Invitations, Issuer } from '../access/index.ts'
import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Vault } from '../vault/index.ts'
import { type Applications, applicationsRedirect, createApplicationDoor } from './applications.ts'
import { saveOwnClients } from './client-store.ts'
import { createDevices } from './devices.ts'
import { createAccountsHandler } from './handler.ts'
import { accountPath } from './issuer.ts'
import { createIssuerCookies } from './issuer-cookies.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import { createNewAccounts } from './new-accounts.ts'
import { saveOutsideSignIn } from './outside-account-store.ts'
import { createOutsideIssuers } from './outside-issuers.ts'
import { createOutsideLimit } from './outside-limits.ts'
import { createOutsideSignIn } from './outside-sign-in.ts'
import { takeState } from './outside-state-store.ts'
import { mayStay } from './outside-stay.ts'
import { createOwnAccount } from './own-account.ts'
import { createRecordAdapter } from './record-adapter.ts'
import { deleteExpired } from './record-store.ts'
import { createSignIn } from './sign-in.ts'

export interface AccountsOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Logger
  readonly pepper: Buffer
  readonly publicUrl: string
  readonly invitations: Pick<Invitations, 'open' | 'join'>
  readonly applications: Applications
  /** The issuers of the settings, whose people may sign in too. */
  readonly issuers: readonly Issuer[]
}
export type Accounts = ReturnType<typeof createAccounts>

const dayMs = 24 * 3600 * 1000

/**
 * Joins the parts of the room. Keys and clients of the issuer are created on first use, and its
 * library is loaded then: most of the time nobody signs in.
 */
export function createAccounts(options: AccountsOptions) {
  const { database, clock, log, publicUrl, pepper, invitations } = options
  const keys = createIssuerKeys(options)
  const signIn = createSignIn(options)
  const newAccounts = createNewAccounts({ database, clock, publicUrl, invitations, signIn })
  const issuers = createOutsideIssuers(options)
  const outside = createOutsideSignIn({
    issuers,
    log,
    limit: createOutsideLimit(options),
    take: (state) => takeState(database, state, clock.now()),
    save: (person) => inTransaction(database, (sql) => saveOutsideSignIn(sql, person, clock.now())),
  })
  const findAccount = async (id: string) => {
    const account = await newAccounts.find(id)
    return account && mayStay(account, issuers.trusted, clock.now()) ? account : undefined
  }
  const applications = createApplicationDoor({ ...options, findAccount })
  const adapter = (agent: () => string | undefined) => createRecordAdapter({ ...options, agent })
  const cookies = createIssuerCookies(options)
  const devices = createDevices(options)
  let made: { readonly provider: Promise<Provider>; readonly atMs: number } | undefined

  async function make(): Promise<Provider> {
    const urls = { publicUrl, applications: applicationsRedirect(publicUrl), account: `${publicUrl}${accountPath}` }
    await saveOwnClients(database, urls, clock.now())
    const all = await keys.privateKeys()
    const { createProvider } = await import('./provider.ts')
    return createProvider({ publicUrl, pepper, log, keys: all, cookies, adapter, findAccount })
  }

  /** Recreated once a day, because keys may change then. */
  function provider(): Promise<Provider> {
    const atMs = clock.now().getTime()
    if (made && atMs - made.atMs < dayMs) return made.provider
    const making = { provider: make(), atMs }
    made = making
    making.provider.catch(() => {
      if (made === making) made = undefined
    })
    return making.provider
  }

  return {
    keys,
    handle: createAccountsHandler({
      ...{ publicUrl, provider, newAccounts, signIn, outside, applications, cookies, devices, clock },
      ownAccount: createOwnAccount({ ...options, devices, signIn, findAccount }),
    }),
    firstAccountLink: newAccounts.firstAccountLink,
    /** Deletes expired records. */
    reconciler: {
      name: 'accounts',
      everyMs: 60_000,
      reconcile: () => deleteExpired(database, clock.now(), new Date(clock.now().getTime() - dayMs)),
    },
  }
}
