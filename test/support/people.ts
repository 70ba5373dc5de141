import { importJWK, SignJWT } from 'jose'
import type { RoleName } from '../../contract/roles.ts'
import { addMember, builtInRoleId, insertAccount } from '../../server/access/index.ts'
import { issuerOf, ownAccounts } from '../../server/accounts/index.ts'
import type { Composition } from '../../server/composition/index.ts'
import type { Database } from '../../server/database/index.ts'
import { newId } from '../../server/lib/id.ts'

/** The public URL of platforms in tests. */
export const publicUrl = 'http://localhost:3000'

export interface Person {
  readonly id: string
  readonly email: string
}

/**
 * Adds a person with an account of this platform. `member` makes the person a member of an
 * organization.
 */
export async function addPerson(
  database: Database,
  options: { email: string; id?: string; member?: { organizationId: string; role?: RoleName; customRoleId?: string } },
): Promise<Person> {
  const { email, id = newId(), member } = options
  const name = email.split('@')[0] ?? ''
  const account = { id, issuer: ownAccounts, subject: id, name, email, first_name: 'Ada', last_name: 'Example' }
  await insertAccount(database, account, new Date())
  if (member) {
    const { organizationId, role = null, customRoleId = null } = member
    await addMember(
      database,
      { organization_id: organizationId, account_id: id, role, custom_role_id: customRoleId },
      new Date(),
    )
    if (role === 'OWNER') await database`update organization set owner = ${id} where id = ${organizationId}`
  }
  return { id, email }
}

/** Returns an access token like those of the platform's issuer. */
export async function signIn(
  { accounts }: Pick<Composition, 'accounts'>,
  accountId: string,
  change: Record<string, unknown> = {},
): Promise<string> {
  const [{ kid, ...key }] = await accounts.keys.privateKeys()
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuerOf(publicUrl), aud: publicUrl, sub: accountId, iat: now, exp: now + 600, ...change }
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
    .sign(await importJWK(key, 'RS256'))
}

/** Returns a token of the organization with that role, made with the rights of its owner. */
export async function tokenWithRole(
  { rooms }: Pick<Composition, 'rooms'>,
  organizationId: string,
  roleId: string | { readonly builtIn: RoleName },
): Promise<string> {
  const role_id = typeof roleId === 'string' ? roleId : builtInRoleId(organizationId, roleId.builtIn)
  const maker = { name: 'owner', permissions: ['ADMIN' as const], rights: { role: 'OWNER' as const } }
  return (await rooms.apiTokens.create(organizationId, maker, { name: `role ${newId()}`, role_id })).token
}
