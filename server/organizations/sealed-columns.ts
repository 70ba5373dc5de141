import type { SealedColumn } from '../lib/seal.ts'

/** Where texts of this room are sealed for organizations: a rotation of their keys seals these anew. */
export const sealedColumns: readonly SealedColumn[] = [{ table: 'git_token', column: 'sealed_token', key: ['id'] }]
