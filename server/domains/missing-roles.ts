import { builtInRoles } from '@quayside/contract/roles.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import { everyMember, rolesIn, signInSetting } from './sign-in-rule.ts'
import { listCustomRoles } from './sign-in-store.ts'

/**
 * Returns why a new value for the sign-in of a service is rejected: its organization has no such
 * role. Undefined if it has all of them.
 */
export async function missingRoles(
  sql: Sql,
  serviceId: string,
  { sent, stored }: { readonly sent: SettingValues; readonly stored: SettingValues },
): Promise<string | undefined> {
  const value = sent[signInSetting]
  if (typeof value !== 'string' || value === '' || value === stored[signInSetting]) return undefined
  const custom = await listCustomRoles(sql, serviceId)
  const names = [...Object.values(builtInRoles), ...custom].map(({ name }) => name)
  const known = new Set([everyMember, ...names.map((name) => name.toLowerCase()), ...custom.map(({ id }) => id)])
  const missing = rolesIn(value).find((one) => !known.has(one.toLowerCase()))
  if (missing === undefined) return undefined
  const choice = [everyMember, ...names].join(', ')
  return `${signInSetting}: the organization has no role "${missing}". Possible values: ${choice}.`
}
