import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { PublicAddress } from './links.ts'
import { missingRoles } from './missing-roles.ts'
import { redirectProblem } from './redirect-problem.ts'

interface SettingChange {
  readonly sent: SettingValues
  readonly stored: SettingValues
}

/**
 * Returns a function that returns why new advanced settings of a service do not fit the roles of
 * its organization or its host names. `address` is the one of the platform's router.
 */
export const createSettingCheck =
  (address: PublicAddress) =>
  async (sql: Sql, serviceId: string, change: SettingChange): Promise<string | undefined> =>
    (await missingRoles(sql, serviceId, change)) ?? (await redirectProblem(sql, serviceId, change, address))
