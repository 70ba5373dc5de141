import type { AccountRow } from '../access/index.ts'
import { ownAccounts } from './issuer.ts'

/**
 * For so long a sign-in at an outside issuer counts. Then the person signs in there again, so that
 * somebody whom it no longer knows loses access.
 */
export const outsideStayMs = 12 * 3600_000

/** Pure: returns whether sessions and tokens of this platform's issuer are valid for an account. */
export function mayStay(
  { issuer, outside_signed_in_at }: Pick<AccountRow, 'issuer' | 'outside_signed_in_at'>,
  trusted: ReadonlySet<string>,
  now: Date,
): boolean {
  if (issuer === ownAccounts) return true
  if (!trusted.has(issuer) || outside_signed_in_at === null) return false
  return now.getTime() - outside_signed_in_at.getTime() < outsideStayMs
}

/**
 * Pure: returns the address by which applications know a person. The name is none: people choose
 * it.
 */
export const addressOf = ({ email, outside_email, subject }: AccountRow): string => email ?? outside_email ?? subject
