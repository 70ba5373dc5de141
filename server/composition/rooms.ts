import {
  addOwner,
  createAccountInfo,
  createApiTokens,
  createCustomRoles,
  createInvitations,
  createMembers,
} from '../access/index.ts'
import { createAudit } from '../audit/index.ts'
import { type BackupOptions, createBackups } from '../backups/index.ts'
import { createUploads } from '../certificates/index.ts'
import { clusterEndowments, createClusters, createCredentials, findClusterId } from '../clusters/index.ts'
import type { DiskKeeper } from '../disk/index.ts'
import { createCustomDomains, createSettingCheck, publicAddressOf, rulesProblem } from '../domains/index.ts'
import {
  createClone,
  createExport,
  createOverview,
  createProjectRules,
  createRules,
  createServiceNameCopier,
  createStages,
  submitServiceCopy,
} from '../environments/index.ts'
import { createHostedList, isHosted } from '../git/index.ts'
import { type Rooms, readManifestVersion } from '../http/index.ts'
import { createRunCommands } from '../jobs/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createMetrics } from '../metrics/index.ts'
import { createEnvironments, createOrganizations, createProjects } from '../organizations/index.ts'
import { createGitWebhooks, createPushRecords, hostedRepositoryUse } from '../pushes/index.ts'
import { addDefaultRegistries, createRegistries } from '../registries/index.ts'
import { createGitProviders } from '../repositories/index.ts'
import { createDeployments, createSelected, type DeploymentsOptions } from '../requests/index.ts'
import { createCheckStack, createListChartServices, createPlanToApply } from '../rollout/index.ts'
import { createAdvancedSettings, createGroups, createRestrictions, createServices } from '../services/index.ts'
import { createStacks } from '../stacks/index.ts'
import { createTrafficReader } from '../traffic/index.ts'
import { internalHost } from '../variables/index.ts'
import { createKeyRotations } from '../vault/index.ts'
import { createWebhooks } from '../webhooks/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { hostDeclarer, rowCopier, serviceParts } from './copying.ts'
import type { Foundation } from './foundation.ts'

/** Creates the rooms that answer requests. */
export function createRooms(
  foundation: Foundation,
  workflows: Workflows,
  { disk, backups }: { readonly disk: DiskKeeper; readonly backups: BackupOptions },
): Rooms {
  const { config, database, vault, pepper, guard, safeFetch, git, lines, gitTokens, readCredential, formerUrls } =
    foundation
  const declareHosts = hostDeclarer(foundation)
  const { capabilitiesOf, capacityOf } = foundation.engines
  const ceilingOf = (engine: string | null) => {
    const { cpuMilli: cpu, memoryMiB: memory, architecture } = capacityOf({ engine })
    return { cpu, memory, architecture }
  }
  const ableOf = (engine: string | null) => capabilitiesOf({ engine })
  const eventsOf = (engine: string | null) => capabilitiesOf({ engine })?.events ?? 'cool-down'
  const rules = createRules({ database, clock })
  const pushRecords = createPushRecords(database, foundation.home)
  const deploying: DeploymentsOptions = {
    database,
    clock,
    workflows,
    git,
    readCredential,
    capabilitiesOf,
    restoreSettings: (service, former) => rooms.services.restore(service, former),
    planToApply: createPlanToApply({ database, vault, capabilitiesOf, behind: pushRecords.behind }),
  }
  const rooms: Rooms = {
    database,
    clock,
    vault,
    git,
    lines,
    apiTokens: createApiTokens({ database, clock, pepper }),
    members: createMembers({ database, clock }),
    invitations: createInvitations({ database, clock, pepper, publicUrl: config.publicUrl }),
    customRoles: createCustomRoles({ database, clock }),
    accountInfo: createAccountInfo({ database, clock }),
    organizations: createOrganizations({
      database,
      clock,
      endowments: [...clusterEndowments(config), addDefaultRegistries],
      addOwner,
      founders: config.founders,
    }),
    keyRotations: createKeyRotations({ database, clock, vault, workflows }),
    runCommands: createRunCommands({ database, clock, workflows }),
    projects: createProjects({ database, clock }),
    environments: createEnvironments({
      database,
      clock,
      findCluster: findClusterId,
      rules,
    }),
    stages: createStages({ database, clock }),
    overview: createOverview(database),
    exports: createExport({ database, clock, vault, records: (rows) => rooms.services.records(rows) }),
    traffic: createTrafficReader({ database, clock }),
    metrics: createMetrics({
      database,
      clock,
      version: readManifestVersion(),
      dataDirectory: config.dataDirectory,
    }),
    cloneEnvironment: createClone({
      ...rowCopier(foundation),
      database,
      workflows,
      rules,
      findCluster: findClusterId,
    }),
    selected: createSelected(deploying),
    rules,
    projectRules: createProjectRules({
      database,
      clock,
      findCluster: findClusterId,
    }),
    gitTokens,
    gitWebhooks: createGitWebhooks({ database, vault, clock, publicUrl: config.publicUrl }),
    pushRecords,
    hostedRepositoryUse: (organizationId, address) =>
      hostedRepositoryUse({ database, home: foundation.home }, organizationId, address),
    hostedRepositories: createHostedList(foundation.gitHost, config.publicUrl),
    gitProviders: createGitProviders(safeFetch),
    runnerImages: config.runnerImages,
    checkStack: createCheckStack({ database, stacks: createStacks({ vault, clock }), workflows }),
    registries: createRegistries({ database, vault, clock, guard, safeFetch }),
    clusters: createClusters({
      database,
      clock,
      vault,
      workflows,
      ceilingOf,
      domain: config.domain,
      ableOf,
      allowsHost: guard.literalIsAllowed,
      inCluster: config.inCluster,
    }),
    disk,
    organizationDisk: foundation.organizationDisk,
    credentials: createCredentials({ database, vault, clock }),
    listChartServices: createListChartServices(foundation.engines),
    services: createServices({
      database,
      clock,
      ceilingOf,
      eventsOf,
      checkRepositoryAddress: git.checkAddress,
      declareHosts,
      claimDisk: foundation.organizationDisk.claim,
      gitTokenType: gitTokens.typeFor,
      vault,
      internalHost,
      isHomeRepository: (url) => isHosted(url, foundation.home),
      parts: serviceParts,
      copyData: submitServiceCopy({ workflows, clock }),
      copyVariables: createServiceNameCopier({ vault, clock }),
    }),
    deployments: createDeployments(deploying),
    backups: createBackups(backups),
    audit: createAudit({ database, publicUrl: config.publicUrl }),
    webhooks: createWebhooks({ database, vault, clock, guard, publicUrl: config.publicUrl }),
    groups: createGroups({ database, clock }),
    advancedSettings: createAdvancedSettings({
      database,
      clock,
      ableOf,
      problemOf: rulesProblem,
      problemIn: createSettingCheck(publicAddressOf(config)),
    }),
    restrictions: createRestrictions({ database, clock }),
    customDomains: createCustomDomains({
      database,
      clock,
      domain: config.domain,
      ownHosts: [config.publicUrl, ...formerUrls].map((url) => new URL(url).hostname),
      nameServers: foundation.nameServers,
      mode: config.domainProof,
      speaksTls: config.routerTls !== undefined,
      certifies: foundation.certificates.certifies,
    }),
    uploads: createUploads({
      database,
      vault,
      clock,
      log: foundation.log,
      serve: (host, signal) => foundation.serveHost({ host, cluster: undefined }, signal),
    }),
    publicAddress: publicAddressOf(config),
  }
  return rooms
}
