import type { SealedColumn } from '../lib/seal.ts'

/** Where texts of this room are sealed for organizations: a rotation of their keys seals these anew. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'webhook', column: 'sealed_target_secret', key: ['id'] },
  { table: 'webhook', column: 'sealed_signing_secret', key: ['id'] },
]
