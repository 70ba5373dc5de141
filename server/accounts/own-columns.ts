import type { SealedColumn } from '../lib/seal.ts'

/** What the master key itself seals in this room: an exchange of it seals these texts anew. */
export const ownColumns: readonly SealedColumn[] = [
  { table: 'issuer_key', column: 'sealed_private_key', key: ['id'] },
  { table: 'issuer_record', column: 'sealed_payload', key: ['model', 'id_hash'] },
]
