import { inTransaction } from '../database/index.ts'
import { deleteAccount, findAccount, storeAccount } from './account-store.ts'
import type { Account, Authority } from './authority.ts'
import { accountKeyCell } from './own-columns.ts'
import type { CertificateOptions } from './reconciler.ts'

type AccountOptions = Pick<CertificateOptions, 'database' | 'vault' | 'clock' | 'log' | 'directory'>

/** The account that is being read or created, so that orders that begin together share it. */
const reading = new WeakMap<Authority, Promise<Account>>()

/** Returns the account of this installation at an authority. Creates it at the first order. */
export function accountOf(options: AccountOptions, authority: Authority, signal: AbortSignal): Promise<Account> {
  const known = reading.get(authority)
  if (known) return known
  const read = readOrCreate(options, authority, signal).finally(() => reading.delete(authority))
  reading.set(authority, read)
  return read
}

async function readOrCreate(options: AccountOptions, authority: Authority, signal: AbortSignal): Promise<Account> {
  const row = await findAccount(options.database, options.directory)
  if (!row) return store(options, await authority.register(signal))
  const key = await options.vault.openOwn(accountKeyCell(row.directory), row.sealed_key)
  const account = { url: row.url, key, ...(row.root !== null && { root: row.root }) }
  const renewed = await authority.renewed?.(account)
  if (!renewed) return account
  options.log.warn({}, 'the next root of the certificates was made: trust authority.pem again')
  return store(options, renewed)
}

async function store({ database, vault, clock, directory }: AccountOptions, account: Account): Promise<Account> {
  await inTransaction(database, async (sql) => {
    const sealed_key = await vault.sealOwn(sql, accountKeyCell(directory), account.key.reveal())
    const { url, root = null } = account
    await storeAccount(sql, { directory, url, sealed_key, root }, clock.now())
  })
  return account
}

/**
 * Forgets an account that the authority does not know any more. One that another order has created
 * since then stays.
 */
export const forgetAccount = ({ database, directory }: AccountOptions, { url }: Pick<Account, 'url'>): Promise<void> =>
  deleteAccount(database, { directory, url })
