import type { Sql } from '../database/index.ts'
import { AddressError, type AddressGuard } from '../lib/address.ts'
import { startDeadline } from '../lib/deadline.ts'
import { AppError } from '../lib/error.ts'
import { Secret } from '../lib/secret.ts'
import { loginOf, type Opened } from './login.ts'

/** How long DNS may hold up a deployment. */
const dnsMs = 5000

/** Opens a container registry of an organization with its secrets. */
type OpenRegistry<S extends Sql> = (sql: S, organizationId: string, id: string) => Promise<Opened>

/**
 * Returns who enters a container registry; undefined if it is open to all. Throws AppError
 * `invalid` for one that must not be contacted.
 */
export const createRegistryLogin =
  <S extends Sql>({ guard, open }: { readonly guard: Pick<AddressGuard, 'check'>; readonly open: OpenRegistry<S> }) =>
  async (sql: S, organizationId: string, id: string, signal: AbortSignal) => {
    const registry = await open(sql, organizationId, id)
    await checkHost(guard, registry, signal)
    const login = loginOf(registry)
    return login && { username: login.username, password: new Secret(login.password) }
  }

/**
 * The engine would open a private address for its user that the platform itself does not. The
 * engine reports a name that stands for nothing.
 */
async function checkHost(
  guard: Pick<AddressGuard, 'check'>,
  { name, url }: Pick<Opened, 'name' | 'url'>,
  signal: AbortSignal,
): Promise<void> {
  const { hostname } = new URL(url.replace(/^oci:/, 'https:'))
  try {
    await guard.check(hostname, startDeadline(dnsMs, signal).signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AddressError && error.reason === 'refused')) return
    throw new AppError('invalid', `The registry "${name}" is not asked: ${error.message}`, { cause: error })
  }
}
