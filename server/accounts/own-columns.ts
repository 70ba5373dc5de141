import type { SealedColumn } from '../lib/seal.ts'

/**
 * The columns of this room that the master key itself seals. An exchange of the key seals them
 * again.
 */
export const ownColumns: readonly SealedColumn[] = [
  { table: 'issuer_key', column: 'sealed_private_key', key: ['id'] },
  { table: 'issuer_record', column: 'sealed_payload', key: ['model', 'id_hash'] },
]
