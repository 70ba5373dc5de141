import type { createApiTokens } from '../../access/index.ts'
import type { createClusters } from '../../clusters/index.ts'
import type { Database } from '../../database/index.ts'
import type { Deployments } from '../../deployments/index.ts'
import type { PublicAddress } from '../../domains/index.ts'
import type { GitDriver } from '../../git/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LineStore } from '../../logs/index.ts'
import type {
  createEnvironments,
  createGitTokens,
  createOrganizations,
  createProjects,
} from '../../organizations/index.ts'
import type { createServices } from '../../services/index.ts'
import type { Vault } from '../../vault/index.ts'
import type { createWebhooks } from '../../webhooks/index.ts'

/** What handlers hand the work to. */
export interface Rooms {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  readonly git: GitDriver
  readonly lines: LineStore
  readonly apiTokens: ReturnType<typeof createApiTokens>
  readonly organizations: ReturnType<typeof createOrganizations>
  readonly projects: ReturnType<typeof createProjects>
  readonly environments: ReturnType<typeof createEnvironments>
  readonly gitTokens: ReturnType<typeof createGitTokens>
  readonly clusters: ReturnType<typeof createClusters>
  readonly services: ReturnType<typeof createServices>
  readonly deployments: Deployments
  readonly webhooks: ReturnType<typeof createWebhooks>
  /** How applications are reached from outside. */
  readonly publicAddress: PublicAddress
}
