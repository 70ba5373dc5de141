import type { SealedColumn } from '../lib/seal.ts'

/** Where texts of this room are sealed for organizations: a rotation of their keys seals these anew. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'backup_file', column: 'sealed_key', key: ['backup_id', 'number'] },
]
