import { inTransaction } from '../database/index.ts'
import { deleteAccount, findAccount, storeAccount } from './account-store.ts'
import type { Account, Authority } from './authority.ts'
import { accountKeyCell } from './own-columns.ts'
import type { CertificateOptions } from './reconciler.ts'

type AccountOptions = Pick<CertificateOptions, 'database' | 'vault' | 'clock' | 'directory'>

/** The account that is being created, so that orders that begin together share it. */
const creating = new WeakMap<Authority, Promise<Account>>()

/** Returns the account of this installation at an authority. Creates it at the first order. */
export async function accountOf(options: AccountOptions, authority: Authority, signal: AbortSignal): Promise<Account> {
  const row = await findAccount(options.database, options.directory)
  if (row) {
    const key = await options.vault.openOwn(accountKeyCell(row.directory), row.sealed_key)
    return { url: row.url, key, ...(row.root !== null && { root: row.root }) }
  }
  const known = creating.get(authority)
  if (known) return known
  const created = create(options, authority, signal).finally(() => creating.delete(authority))
  creating.set(authority, created)
  return created
}

async function create(options: AccountOptions, authority: Authority, signal: AbortSignal): Promise<Account> {
  const { database, vault, clock, directory } = options
  const account = await authority.register(signal)
  await inTransaction(database, async (sql) => {
    const sealed_key = await vault.sealOwn(sql, accountKeyCell(directory), account.key.reveal())
    const { url, root = null } = account
    await storeAccount(sql, { directory, url, sealed_key, root }, clock.now())
  })
  return account
}

/** Forgets an account that the authority does not know any more. */
export const forgetAccount = ({ database, directory }: AccountOptions): Promise<void> =>
  deleteAccount(database, directory)
