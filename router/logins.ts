import { createHmac, randomBytes } from 'node:crypto'
import type { BasicCredential } from '@quayside/contract/routes.ts'

/** The logins of a route, each with one hash. */
export interface Logins {
  readonly byLogin: ReadonlyMap<string, string>
  /** The hashes of all logins. Never empty. */
  readonly hashes: readonly string[]
}

/**
 * Compiles a list of logins. A login counts once, by its first hash, so that a check of a password
 * costs one hash whatever the list contains.
 */
export function compileLogins(credentials: readonly BasicCredential[]): Logins {
  const byLogin = new Map<string, string>()
  for (const { login, hash } of credentials) if (!byLogin.has(login)) byLogin.set(login, hash)
  return { byLogin, hashes: [...byLogin.values()] }
}

const key = randomBytes(32)

/**
 * Returns the hash with which a password of this login is compared. An unknown login always gets
 * the same one of the list, so the time of a check does not reveal whether a login exists.
 */
export function hashFor(
  { byLogin, hashes }: Logins,
  login: string,
): { readonly hash: string; readonly exists: boolean } {
  const own = byLogin.get(login)
  const place = createHmac('sha256', key).update(login).digest().readUInt32BE() % hashes.length
  return { hash: own ?? hashes[place] ?? '', exists: own !== undefined }
}
