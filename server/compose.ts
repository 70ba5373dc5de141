import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import {
  addOwner,
  createAccountInfo,
  createApiTokens,
  createCustomRoles,
  createInvitations,
  createJwtVerifier,
  createMembers,
  credentialReader,
} from './access/index.ts'
import { createAccounts, issuerOf, ownAccounts } from './accounts/index.ts'
import { createAudit, createPruner, createSealer } from './audit/index.ts'
import { createDockerBuilder } from './builders/index.ts'
import { createClusters, createClusterWorkflow, findCluster, insertBuiltInCluster } from './clusters/index.ts'
import type { Config } from './config.ts'
import { createCredentials } from './credentials/index.ts'
import { type Database, inTransaction } from './database/index.ts'
import {
  createDeployments,
  createDeploymentWorkflow,
  createPlans,
  createSelected,
  engineRelease,
  findRelease,
  type RecipeOptions,
} from './deployments/index.ts'
import {
  createCustomDomains,
  createRoutePublisher,
  leadsTo,
  publicHosts,
  replaceHosts,
  resolveNames,
  setEndpoints,
} from './domains/index.ts'
import { DockerEngine, type Engine } from './engines/index.ts'
import {
  createClone,
  createCopyWorkflow,
  createExport,
  createOverview,
  createProjectRules,
  createRules,
  createStages,
} from './environments/index.ts'
import { createGit, createGitHost } from './git/index.ts'
import { createGitProviders } from './git-providers/index.ts'
import { createGroups } from './groups/index.ts'
import {
  createBudgets,
  createHandlers,
  createRateLimiter,
  createServer,
  type Rooms,
  readVersion,
  targetQuery,
} from './http/index.ts'
import { createReplyPruner } from './idempotency/index.ts'
import { createAddressGuard } from './lib/address.ts'
import { systemClock as clock } from './lib/clock.ts'
import { AppError } from './lib/error.ts'
import { newId } from './lib/id.ts'
import type { Logger } from './lib/log.ts'
import { createSafeFetch } from './lib/safe-fetch.ts'
import { masker, Secret } from './lib/secret.ts'
import { createSlots } from './lib/slots.ts'
import { createCollector, openLineStore } from './logs/index.ts'
import { createObserver, isWished, type Observer } from './observations/index.ts'
import { createEnvironments, createGitTokens, createOrganizations, createProjects } from './organizations/index.ts'
import { addDefaultRegistries, createRegistries, loginOf } from './registries/index.ts'
import { createOwnRouter, type Router } from './routers/index.ts'
import {
  copyServiceParts,
  createAdvancedSettings,
  createRestrictions,
  partsOf,
  setParts,
} from './service-parts/index.ts'
import { cloneService, createServices, lockService, type ServiceRow, type ServicesOptions } from './services/index.ts'
import { readSetting } from './setting-store.ts'
import { copyVariables, internalHost } from './variables/index.ts'
import type { Vault } from './vault/index.ts'
import { createWebhookReconciler, createWebhooks } from './webhooks/index.ts'
import { createWorkflows, type Reconciler, runReconcilers } from './workflows/index.ts'

/** What is there before the rooms: opened by main, or by a test. */
export interface Ground {
  readonly config: Config
  readonly log: Logger
  readonly database: Database
  /** Of the same database, for the connection that listens. Without it, other processes are heard of by polling. */
  readonly databaseUrl?: string
  readonly vault: Vault
  readonly pepper: Buffer
  /** Under which the API was reached before, see `config.publicUrl`. */
  readonly formerUrls: readonly string[]
  /** Tells this installation's containers from those of others on the same engine. */
  readonly instance: string
  readonly controlSocket: string
  /** Beside those of the rooms. */
  readonly reconcilers: readonly Reconciler[]
}

/** The parts that tests exchange for fakes. */
export interface Drivers {
  readonly engine: Engine & { checkLiveness?(signal: AbortSignal): Promise<string[]> }
  readonly builder: RecipeOptions['builder']
  readonly router: Router
}

export const createDrivers = ({ config, instance, controlSocket }: Ground): Drivers => ({
  engine: new DockerEngine({ socketPath: config.dockerSocket, instance, clock }),
  builder: createDockerBuilder({ socketPath: config.dockerSocket, clock }),
  router: createOwnRouter({ controlSocket }),
})

/** What every build may use at most. */
const buildLimits = { cpuMilli: 4000, memoryMiB: 4096, timeoutSeconds: 1800, maxLogBytes: 50 * 1024 * 1024 }
const mebibyte = 1024 * 1024
/** The reconciler that supervises it. */
const routerProcess = 'router process'
/** What open requests may take when the server stops. */
const closeMs = 10_000

const placeOf = ({ organization_id, project_id, environment_id }: ServiceRow) => ({
  organizationId: organization_id,
  projectId: project_id,
  environmentId: environment_id,
})

/** Joins the rooms. Nothing runs before `start`. */
export function compose(ground: Ground, drivers: Drivers) {
  const { config, log, database, vault, pepper } = ground
  const { engine, builder, router } = drivers
  const data = (name: string): string => join(config.dataDirectory, name)

  const guard = createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets })
  const safeFetch = createSafeFetch(guard)
  const gitHost = createGitHost({ directory: data('git'), log })
  const git = createGit({
    directory: data('checkouts'),
    guard,
    clock,
    builtInHost: {
      origins: [config.publicUrl, ...ground.formerUrls],
      repositoryPath: (name, organization) => organization && gitHost.repositoryPath(organization, name),
    },
  })
  const lines = openLineStore({ directory: data('logs'), clock, log })
  const collector = createCollector({ engine, store: lines, clock, log })
  const collect = (service: string, secrets: readonly Secret[]): void =>
    collector.follow(service, { mask: masker(secrets) })
  const routes = createRoutePublisher({ database, router })
  const gitTokens = createGitTokens({ database, vault, clock, guard })
  const readCredential: RecipeOptions['readCredential'] = gitTokens.credential

  const recipe: RecipeOptions = {
    database,
    clock,
    log,
    vault,
    git,
    readCredential,
    registryLogin: async (sql, organizationId, id) => {
      const login = loginOf(await rooms.registries.containerRegistries.open(sql, organizationId, id))
      return login && { username: login.username, password: new Secret(login.password) }
    },
    builder,
    buildLimits,
    engine,
    router,
    routes,
    lines,
    collect,
    endRepair: (service) => observer.endRepair(service),
    slots: { builds: createSlots(2), deployments: createSlots(4) },
    drainMs: 30_000,
    keptReleases: 5,
  }
  const clusterOperation = createClusterWorkflow({
    database,
    clock,
    version: readVersion(),
    parts: {
      checkEngine: (signal) => engine.ping(signal),
      // Whoever supervises the router process exchanges one of another version.
      renewRouter: async () => {
        if (ground.reconcilers.some(({ name }) => name === routerProcess)) reconcilers?.nudge(routerProcess)
      },
      publishRoutes: routes.apply,
    },
  })
  const declareHosts: ServicesOptions['declareHosts'] = (sql, service) =>
    replaceHosts(sql, service.id, publicHosts(service, config.domain), clock.now())
  const parts = { of: partsOf, set: setParts, copy: copyServiceParts }
  const environmentCopy = createCopyWorkflow({
    clock,
    log,
    // Those of all services together follow, when every copy is there.
    copyService: (sql, clone) =>
      cloneService(sql, { vault, clock, declareHosts, parts, copyVariables: async () => {} }, clone),
    copyVariables: (sql, copy) => copyVariables(sql, { vault, clock }, copy),
  })
  const workflows = createWorkflows({
    database,
    ...(ground.databaseUrl === undefined ? {} : { url: ground.databaseUrl }),
    workflows: [createDeploymentWorkflow(recipe), clusterOperation, environmentCopy],
    clock,
    log,
    maxRunning: 50,
    // A server that is killed again and again during one deployment must still end it; what kills servers by itself is parked.
    maxAttempts: 30,
  })
  const ceiling = {
    cpu: availableParallelism() * 1000,
    memory: Math.floor(totalmem() / mebibyte),
    architecture: process.arch === 'arm64' ? ('ARM64' as const) : ('AMD64' as const),
  }
  const rules = createRules({ database, clock })
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
      found: async (sql, organizationId, ownerId) => {
        const now = clock.now()
        await insertBuiltInCluster(sql, { id: newId(), organization_id: organizationId, name: 'local', now })
        await addDefaultRegistries(sql, organizationId, now)
        await addOwner(sql, organizationId, ownerId, now)
      },
    }),
    projects: createProjects({ database, clock }),
    environments: createEnvironments({
      database,
      clock,
      findCluster: async (sql, organizationId, id) => (await findCluster(sql, organizationId, id))?.id,
      giveRule: rules.give,
    }),
    stages: createStages({ database, clock }),
    overview: createOverview(database),
    exportEnvironment: createExport({ database, clock, vault, records: (rows) => rooms.services.records(rows) }),
    cloneEnvironment: createClone({
      database,
      clock,
      workflows,
      rules,
      findCluster: async (sql, organizationId, id) => (await findCluster(sql, organizationId, id))?.id,
    }),
    selected: createSelected({ database, clock, workflows, git, readCredential }),
    rules,
    projectRules: createProjectRules({
      database,
      clock,
      findCluster: async (sql, organizationId, id) => (await findCluster(sql, organizationId, id))?.id,
    }),
    gitTokens,
    gitProviders: createGitProviders(safeFetch),
    registries: createRegistries({ database, vault, clock, guard, safeFetch }),
    clusters: createClusters({ database, clock, vault, workflows, machine: ceiling, domain: config.domain }),
    credentials: createCredentials({ database, vault, clock }),
    services: createServices({
      database,
      clock,
      ceiling,
      checkRepositoryAddress: git.checkAddress,
      declareHosts,
      gitTokenType: gitTokens.typeFor,
      vault,
      internalHost,
      parts,
      copyVariables: (sql, { from, to }) =>
        copyVariables(
          sql,
          { vault, clock },
          { from: placeOf(from), to: placeOf(to), services: new Map([[from.id, to.id]]), withEnvironment: false },
        ),
    }),
    deployments: createDeployments({ database, clock, workflows, git, readCredential }),
    audit: createAudit({ database, publicUrl: config.publicUrl }),
    webhooks: createWebhooks({ database, vault, clock, guard, publicUrl: config.publicUrl }),
    groups: createGroups({ database, clock }),
    advancedSettings: createAdvancedSettings({ database, clock }),
    restrictions: createRestrictions({ database, clock }),
    customDomains: createCustomDomains({
      database,
      clock,
      domain: config.domain,
      ownHosts: [config.publicUrl, ...ground.formerUrls].map((url) => new URL(url).hostname),
      resolve: resolveNames,
    }),
    publicAddress: { scheme: 'http', port: config.routerPort },
  }

  const observer: Observer = createObserver({
    database,
    clock,
    log,
    engine,
    startRelease: async (wish, id, attempt) => {
      const row = await findRelease(database, id)
      if (!row) return
      const { release, secrets } = await engineRelease(recipe, wish.organization_id, row)
      collect(wish.id, secrets)
      await engine.start(release, attempt)
    },
    moveTraffic: async (service, release, endpoints) => {
      if (await leadsTo(database, service, release, endpoints)) return
      // Under the lock under which a deployment moves it: what was seen before must not overrule that.
      const moved = await inTransaction(database, async (sql) => {
        await lockService(sql, service)
        if (!(await isWished(sql, { id: service, release_id: release }))) return false
        return setEndpoints(sql, service, release, endpoints, clock.now())
      })
      if (moved) reconcilers?.nudge('routes')
    },
    collect: (wish) => {
      if (collector.following().includes(wish.id) || wish.release_id === null) return
      void secretsOf(wish.release_id, wish.organization_id)
        .then((secrets) => collect(wish.id, secrets))
        .catch((error: unknown) => log.warn({ err: error, serviceId: wish.id }, 'lines are not collected yet'))
    },
  })
  async function secretsOf(release: string, organizationId: string): Promise<readonly Secret[]> {
    const row = await findRelease(database, release)
    return row ? (await engineRelease(recipe, organizationId, row)).secrets : []
  }
  const liveness: Reconciler = {
    name: 'liveness',
    everyMs: 1000,
    reconcile: async (signal) => {
      for (const name of (await engine.checkLiveness?.(signal)) ?? []) {
        log.warn({ container: name }, 'liveness probe failed too often; the container was restarted')
      }
    },
  }
  const webhooks = createWebhookReconciler({ database, vault, clock, log, safeFetch })

  const changes = [
    createSealer({ database }),
    createPruner({ database, clock }),
    createReplyPruner({ database, clock }),
  ]

  const { publicUrl } = config
  const accounts = createAccounts({ database, vault, clock, log, pepper, publicUrl, invitations: rooms.invitations })
  const verifyJwt = createJwtVerifier(config.issuers, clock, {
    issuer: issuerOf(config.publicUrl),
    audience: config.publicUrl,
    accounts: ownAccounts,
    publicKeys: accounts.keys.publicKeys,
  })
  const app = createServer({
    database,
    vault,
    plans: createPlans({ database, vault }),
    log,
    clock,
    version: readVersion(),
    allowedOrigins: config.corsOrigins,
    hostNames: [new URL(config.publicUrl).hostname, config.host],
    readCredential: credentialReader({ pepper, verifyJwt }),
    budgets: createBudgets(createRateLimiter(config.rateLimit, config.rateBurst, clock)),
    handlers: createHandlers(rooms),
    targetQuery,
    gitHost,
    accounts,
    ready: async () => {
      await readSetting(database, 'instance').catch((error: unknown) => {
        throw new AppError('unavailable', 'The database does not answer.', { cause: error })
      })
    },
  })

  const stopping = new AbortController()
  let reconcilers: ReturnType<typeof runReconcilers> | undefined

  return {
    app,
    rooms,
    gitHost,
    workflows,
    accounts,
    /** Starts everything that works by itself. */
    start(): void {
      workflows.start()
      reconcilers = runReconcilers({
        reconcilers: [
          ...ground.reconcilers,
          routes.reconciler,
          observer,
          liveness,
          webhooks,
          ...changes,
          accounts.reconciler,
        ],
        clock,
        log,
        signal: stopping.signal,
      })
    },
    /** Takes nothing new in, hands over what runs, and closes what is open. */
    async stop(): Promise<void> {
      // Whoever takes too long to finish a request must not keep running deployments from being handed over.
      const patience = new AbortController()
      const cut = clock.sleep(closeMs, patience.signal).then(
        () => app.server.closeAllConnections(),
        () => {},
      )
      await Promise.all([app.close().finally(() => patience.abort()), workflows.stop(), reconcilers?.stop()])
      await cut
      stopping.abort()
      await collector.close()
      await lines.close()
    },
  }
}

export type Composition = ReturnType<typeof compose>
