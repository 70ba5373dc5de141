import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { type Owner, type Sealer, writeSecret } from './secrets.ts'
import { newPassword, passwordName } from './settings/database.ts'

/** Gives a database its own password, even if it is a copy. Other kinds have none. */
export async function givePassword(
  sql: Sql,
  { vault, clock }: { readonly vault: Sealer; readonly clock: Clock },
  { kind, ...owner }: Owner & { readonly kind: KindName },
): Promise<void> {
  if (kind !== 'database') return
  await writeSecret(sql, vault, owner, { name: passwordName, text: newPassword(), now: clock.now() })
}
