import type { Permission } from '@quayside/contract/operation.ts'
import { roleNames } from '@quayside/contract/roles.ts'
import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Issuer } from './jwt.ts'
import { deleteUnlisted, findFirstOrganization, type ListedMember, saveListed } from './listed-member-store.ts'

/**
 * Makes the people in the settings members of the first organization. New ones are added, changed
 * entries are applied, and people who are no longer listed lose their membership. Invited members
 * are unaffected, and so is a role that was changed here since.
 */
export async function syncMembers(database: Database, clock: Clock, issuers: readonly Issuer[]): Promise<void> {
  await inTransaction(database, async (sql) => {
    const organizationId = await findFirstOrganization(sql)
    if (organizationId === undefined) return
    const kept: string[] = []
    for (const { issuer, members } of issuers) {
      for (const [subject, given] of Object.entries(members)) {
        kept.push(await saveListed(sql, organizationId, toListed(issuer, subject, given), clock.now()))
      }
    }
    await deleteUnlisted(sql, organizationId, kept)
  })
}

/** ADMIN and READ alone correspond to the roles Admin and Viewer. */
function toListed(issuer: string, subject: string, given: readonly Permission[]): ListedMember {
  const word = given.includes('ADMIN') ? 'ADMIN' : given.every((one) => one === 'READ') ? 'VIEWER' : undefined
  const role = roleNames.find((name) => name === word) ?? null
  return { issuer, subject, role, permissions: role ? [] : [...given], listed: [...given].sort().join(' ') }
}
