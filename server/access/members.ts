import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Issuer } from './jwt.ts'
import { deleteOtherMembers, findFirstOrganization, saveMember } from './member-store.ts'

/**
 * Makes the members that come with JWTs be those of the settings, in the first organization: new ones are added, changed
 * ones changed, and those who are no longer listed lose their membership.
 */
export async function syncMembers(database: Database, clock: Clock, issuers: readonly Issuer[]): Promise<void> {
  await inTransaction(database, async (sql) => {
    const organizationId = await findFirstOrganization(sql)
    if (organizationId === undefined) return
    const kept: string[] = []
    for (const { issuer, members } of issuers) {
      for (const [subject, permissions] of Object.entries(members)) {
        kept.push(await saveMember(sql, organizationId, { issuer, subject, permissions }, clock.now()))
      }
    }
    await deleteOtherMembers(sql, organizationId, kept)
  })
}
