import type {
  createAccountInfo,
  createApiTokens,
  createCustomRoles,
  createMembers,
  Invitations,
} from '../../access/index.ts'
import type { createAudit } from '../../audit/index.ts'
import type { Backups } from '../../backups/index.ts'
import type { Uploads } from '../../certificates/index.ts'
import type { createClusters, createCredentials } from '../../clusters/index.ts'
import type { Database } from '../../database/index.ts'
import type { DiskKeeper, OrganizationDisk } from '../../disk/index.ts'
import type { createCustomDomains, PublicAddress } from '../../domains/index.ts'
import type {
  createClone,
  createExport,
  createOverview,
  createProjectRules,
  createRules,
  createStages,
} from '../../environments/index.ts'
import type { GitDriver, HostedRepository } from '../../git/index.ts'
import type { RunCommands } from '../../jobs/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { LineStore } from '../../logs/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type {
  createEnvironments,
  createGitTokens,
  createOrganizations,
  createProjects,
} from '../../organizations/index.ts'
import type { GitWebhooks, HostedRepositoryUse, PushRecords } from '../../pushes/index.ts'
import type { createRegistries } from '../../registries/index.ts'
import type { createGitProviders } from '../../repositories/index.ts'
import type { createSelected, Deployments } from '../../requests/index.ts'
import type { createCheckStack, ListChartServices } from '../../rollout/index.ts'
import type { createAdvancedSettings, createGroups, createRestrictions, createServices } from '../../services/index.ts'
import type { RunnerImages } from '../../stacks/index.ts'
import type { TrafficReader } from '../../traffic/index.ts'
import type { createKeyRotations, Vault } from '../../vault/index.ts'
import type { createWebhooks } from '../../webhooks/index.ts'

/** The rooms that the handlers call. */
export interface Rooms {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  readonly git: GitDriver
  readonly lines: LineStore
  readonly apiTokens: ReturnType<typeof createApiTokens>
  readonly members: ReturnType<typeof createMembers>
  readonly invitations: Invitations
  readonly customRoles: ReturnType<typeof createCustomRoles>
  readonly accountInfo: ReturnType<typeof createAccountInfo>
  readonly organizations: ReturnType<typeof createOrganizations>
  readonly keyRotations: ReturnType<typeof createKeyRotations>
  readonly projects: ReturnType<typeof createProjects>
  readonly environments: ReturnType<typeof createEnvironments>
  readonly stages: ReturnType<typeof createStages>
  readonly selected: ReturnType<typeof createSelected>
  readonly cloneEnvironment: ReturnType<typeof createClone>
  readonly exports: ReturnType<typeof createExport>
  readonly overview: ReturnType<typeof createOverview>
  readonly rules: ReturnType<typeof createRules>
  readonly projectRules: ReturnType<typeof createProjectRules>
  readonly gitTokens: ReturnType<typeof createGitTokens>
  readonly gitWebhooks: GitWebhooks
  readonly pushRecords: PushRecords
  /** Finds a repository of the built-in git host by its address, and where services use it. */
  readonly hostedRepositoryUse: (organizationId: string, address: string) => Promise<HostedRepositoryUse | undefined>
  /** Lists the repositories of the built-in git host. */
  readonly hostedRepositories: (organizationId: string) => Promise<readonly HostedRepository[]>
  readonly gitProviders: ReturnType<typeof createGitProviders>
  /** The images in which stacks run. */
  readonly runnerImages: RunnerImages
  /** Begins a check of a stack for changes from outside. */
  readonly checkStack: ReturnType<typeof createCheckStack>
  readonly registries: ReturnType<typeof createRegistries>
  readonly clusters: ReturnType<typeof createClusters>
  readonly credentials: ReturnType<typeof createCredentials>
  readonly disk: Pick<DiskKeeper, 'usage'>
  readonly organizationDisk: Pick<OrganizationDisk, 'usage'>
  /** Lists the Kubernetes Services of a chart. Waits for its cluster. */
  readonly listChartServices: ListChartServices
  readonly services: ReturnType<typeof createServices>
  readonly deployments: Deployments
  readonly backups: Backups
  /** Changes to runs of jobs. */
  readonly runCommands: RunCommands
  readonly webhooks: ReturnType<typeof createWebhooks>
  readonly audit: ReturnType<typeof createAudit>
  readonly groups: ReturnType<typeof createGroups>
  readonly advancedSettings: ReturnType<typeof createAdvancedSettings>
  readonly restrictions: ReturnType<typeof createRestrictions>
  readonly customDomains: ReturnType<typeof createCustomDomains>
  /** Uploaded certificates of custom domains. */
  readonly uploads: Uploads
  readonly traffic: TrafficReader
  readonly metrics: Pick<Metrics, 'all' | 'ofOrganization'>
  /** How applications are reached from outside. */
  readonly publicAddress: PublicAddress
}
