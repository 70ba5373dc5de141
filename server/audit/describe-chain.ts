import { printable } from '../lib/text.ts'
import type { Verified } from './verify-all.ts'

/**
 * Describes the state of an organization's audit log in one line. Someone who changed it by hand
 * may have chosen its texts too, so their control characters are removed.
 */
export function describeChain({ name, organizationId, state, row }: Verified): string {
  const whose = `Organization "${printable(name)}" (${organizationId})`
  if (state.intact) return `${whose}: ${state.rows} rows, all as they were written.`
  const found = row
    ? `now ${row.id} of ${row.created_at.toISOString()}, ${printable(row.event_type)} of ` +
      `${printable(row.target_type)} "${printable(row.target_name)}"`
    : 'no row has this number'
  const what = state.reason === 'missing' ? 'is missing' : 'does not fit: it was changed, or is in the place of another'
  return `${whose}: row ${state.sequence} ${what} (${found}). Compare it with a backup of the database.`
}
