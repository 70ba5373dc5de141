import type { SealedColumn } from '../lib/seal.ts'

/** Where texts of this room are sealed for organizations: a rotation of their keys seals these anew. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'container_registry', column: 'sealed_config', key: ['id'] },
  { table: 'helm_repository', column: 'sealed_config', key: ['id'] },
]
