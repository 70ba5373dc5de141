import { sealedColumns as backups } from './backups/index.ts'
import { sealedColumns as clusters } from './clusters/index.ts'
import { sealedColumns as credentials } from './credentials/index.ts'
import { sealedColumns as deployments } from './deployments/index.ts'
import { sealedColumns as idempotency } from './idempotency/index.ts'
import type { SealedColumn } from './lib/seal.ts'
import { sealedColumns as organizations } from './organizations/index.ts'
import { sealedColumns as pushes } from './pushes/index.ts'
import { sealedColumns as registries } from './registries/index.ts'
import { sealedColumns as services } from './services/index.ts'
import { sealedColumns as variables } from './variables/index.ts'
import { sealedColumns as webhooks } from './webhooks/index.ts'

/** Every place where texts are sealed for organizations. */
export const sealedColumns: readonly SealedColumn[] = [
  ...backups,
  ...clusters,
  ...credentials,
  ...deployments,
  ...idempotency,
  ...organizations,
  ...pushes,
  ...registries,
  ...services,
  ...variables,
  ...webhooks,
]
