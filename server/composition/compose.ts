import { createAccounts } from '../accounts/index.ts'
import { createPruner, createSealer } from '../audit/index.ts'
import {
  adoptInCluster,
  createClusterHealth,
  createClusterWorkflow,
  createConnector,
  createPlatformParts,
} from '../clusters/index.ts'
import { createDueWatch, createPulseOf } from '../database/index.ts'
import { createProofReconciler, createSignInPlaces, publicAddressOf } from '../domains/index.ts'
import { reconcilerName } from '../engines/index.ts'
import { createScheduler } from '../environments/index.ts'
import { createLogPruner } from '../history/index.ts'
import { createOpenStreams, createReplyPruner, readManifestVersion } from '../http/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { createLiveness, createNetworkGuards, type JoinedObserver } from '../observations/index.ts'
import { createPushPruner } from '../pushes/index.ts'
import { createReleasePruner } from '../releases/index.ts'
import { createScheduled } from '../requests/index.ts'
import {
  createDeploymentWorkflow,
  createDriftTimetables,
  createDriftWorkflow,
  createPatience,
  recipeFor,
  runningReleases,
} from '../rollout/index.ts'
import { routerSupervisor } from '../routers/index.ts'
import { createStateChangePruner } from '../state-changes/index.ts'
import { createTrafficKeeper } from '../traffic/index.ts'
import { createKeyRotationWorkflow } from '../vault/index.ts'
import { createDeliveryPruner, createWebhookReconciler } from '../webhooks/index.ts'
import {
  createFinisher,
  createWorkflows,
  type OnDuty,
  runOnDuty,
  type Workflow,
  type Workflows,
} from '../workflows/index.ts'
import { createBackupOptions, createBackupReconcilers, createBackupWorkflows } from './backing-up.ts'
import { createCopyWorkflows, createStandstillReconcilers, createStrayErasers } from './copying.ts'
import { createTrafficCollectors } from './counting.ts'
import { createDisks, keptReleases } from './disk.ts'
import { createDoor } from './door.ts'
import { createFoundation } from './foundation.ts'
import type { Drivers, Ground } from './ground.ts'
import { createJobRuns } from './job-runs.ts'
import { lateWorkflows } from './late-workflows.ts'
import { gainDuty, loseDuty, stopAll } from './lifecycle.ts'
import { createServiceObservers } from './observing.ts'
import { createPushes } from './pushing.ts'
import { createRecipe } from './recipe.ts'
import { createRooms } from './rooms.ts'
import { createScaling } from './scaling.ts'

/** Joins the rooms. Nothing runs before `start`. */
export function compose(ground: Ground, drivers: Drivers) {
  const foundation = createFoundation(ground, drivers, {
    workflows: () => workflows,
    measureDisk: () => disks.measureSoon(),
    fleetChanged: () => reconcilers?.refresh(),
  })
  const { config, log, database, vault, pepper, fleet, safeFetch, gitHost, lines, routes } = foundation
  const { engines, routers } = fleet
  const disks = createDisks(foundation, (name) => reconcilers?.nudge(name))
  const late = lateWorkflows(() => workflows)
  const nudgeRoutes = (): void => {
    routes.all.forEach(({ reconciler }) => {
      reconcilers?.nudge(reconciler.name)
    })
  }
  /** Has the supervisor of the router process look now. A test may have none. */
  const missedRouter = (): void => {
    const supervisors = ground.reconcilers.filter(({ name }) => name === routerSupervisor)
    supervisors.forEach(({ name }) => {
      reconcilers?.remind(name)
    })
  }
  const recipe = createRecipe(foundation, {
    workflows: () => workflows,
    registries: () => rooms.registries,
    observer: () => observer,
    onDiskFull: () => disks.measureSoon(),
  })
  const jobs = createJobRuns(foundation, recipe)
  const backups = createBackupOptions(foundation, recipe, late)
  const clusterOperation = createClusterWorkflow({
    database,
    clock,
    version: readManifestVersion(),
    parts: createPlatformParts({
      database,
      engineOf: engines.engineOf,
      releasesOf: (place, environmentId) => runningReleases(recipeFor(recipe, place), environmentId),
      environments: {
        stop: (row, by) => rooms.deployments.stopAll(row, by),
        remove: (row, by) => rooms.deployments.removeEnvironment(row, by),
      },
      clock,
      patiently: createPatience(clock),
      routerOf: routers.routerOf,
      builderOf: fleet.builders.builderOf,
      publisherOf: routes.publisherOf,
      refresh: (signal) => connector.reconcile(signal),
    }),
  })
  const kindsOfWork: readonly Workflow[] = [
    createDeploymentWorkflow(recipe),
    createDriftWorkflow(recipe),
    clusterOperation,
    createKeyRotationWorkflow({ database, clock, vault }),
    ...createCopyWorkflows(foundation, late),
    ...createBackupWorkflows(backups),
    createPushes(foundation, () => rooms.selected),
    jobs.workflow,
  ]
  const workflows: Workflows = createWorkflows({
    database,
    url: ground.databaseUrl,
    workflows: kindsOfWork,
    clock,
    log,
    mayClaim: ground.duty.isHeld,
    maxRunning: config.parallelWork,
    // A server that is killed again and again during one deployment must still complete it. A
    // workflow that kills servers itself is parked.
    maxAttempts: 30,
  })
  const rooms = createRooms(foundation, workflows, { disk: disks.local, backups })
  const observers = createServiceObservers(foundation, recipe, disks, nudgeRoutes)
  const observer: JoinedObserver = observers.observer
  const { publicUrl } = config
  const accounts = createAccounts({
    database,
    vault,
    clock,
    log,
    pepper,
    publicUrl,
    invitations: rooms.invitations,
    applications: createSignInPlaces({ database, address: publicAddressOf(config) }),
    issuers: config.issuers,
  })
  const openStreams = createOpenStreams({ clock, log, limits: config.streamLimits })
  const pulse = createPulseOf({ url: ground.databaseUrl, clock })
  const app = createDoor(foundation, rooms, accounts, { openStreams, workflows, pulse })
  const stopping = new AbortController()
  const connector = createConnector({
    database,
    log,
    adopt: () => adoptInCluster({ database, vault, clock }, config.inCluster),
    connect: drivers.connect,
    ...fleet,
  })
  /** The parts that work in each server: every one answers requests about connected clusters. */
  const always: readonly Reconciler[] = [...ground.always, connector]
  /** The parts that work without a request. One of the servers that share a database has them. */
  const once: readonly Reconciler[] = [
    ...ground.reconcilers,
    createProofReconciler({
      database,
      clock,
      log,
      nameServers: foundation.nameServers,
      platform: config.domain,
      mode: config.domainProof,
      nudgeRoutes,
    }),
    ...ground.certificates.reconcilers(foundation.serveHost),
    createFinisher({ database, log, workflows: kindsOfWork }),
    ...jobs.reconcilers,
    createDriftTimetables(recipe),
    ...createBackupReconcilers(backups),
    createScheduler({ database, clock, log, ...createScheduled({ database, clock, workflows }) }),
    createWebhookReconciler({ database, vault, clock, log, safeFetch }),
    createSealer({ database }),
    createPruner({ database, clock, days: config.auditDays }),
    createReplyPruner({ database, clock }),
    createReleasePruner({ database, keptReleases }),
    createLogPruner({ database, clock, lines, days: config.deploymentLogDays }),
    createDeliveryPruner({ database, clock, days: config.webhookDays }),
    createStateChangePruner({ database, clock }),
    accounts.reconciler,
    foundation.hostedPushes.reconciler,
    createPushPruner({ database, clock }),
    createTrafficKeeper({ database, clock }),
  ]
  /** The parts that each engine or router has for itself. */
  const perDriver = [
    observers.observers,
    jobs.sweepers,
    createStandstillReconcilers(foundation),
    createStrayErasers(foundation),
    engines.each((named) => createClusterHealth(foundation, named, reconcilerName('cluster health', named.name))),
    engines.each((named) => createLiveness(foundation, named)),
    engines.each((named) => createNetworkGuards(foundation, named)),
    createTrafficCollectors(foundation),
    ...createScaling(foundation, observer, { nudgeRoutes, missedRouter }, stopping.signal),
  ]
  const working = (): readonly Reconciler[] => [
    ...once,
    ...routes.all.map(({ reconciler }) => reconciler),
    ...disks.reconcilers,
    ...perDriver.flatMap(({ all }) => all.flat()),
  ]

  const dueWatch = createDueWatch({
    database,
    reconcilers: () => reconcilers?.current() ?? [],
    remind: (name) => reconcilers?.remind(name),
  })
  let reconcilers: OnDuty | undefined

  return {
    app,
    rooms,
    gitHost,
    workflows,
    accounts,
    /** Connects the clusters that have a kubeconfig. Their deployments need it before `start`. */
    connect: (): Promise<void> => connector.reconcile(stopping.signal),
    /** Starts the parts that work without a request. */
    start(): void {
      workflows.start()
      reconcilers = runOnDuty({
        duty: ground.duty,
        always: () => [...always, dueWatch],
        whileHeld: working,
        gained: () => gainDuty(foundation, { observer, workflows }),
        lost: () => loseDuty(foundation, workflows),
        clock,
        log,
        signal: stopping.signal,
      })
    },
    /** Accepts no new requests, hands over running work, and closes everything that is open. */
    stop: (): Promise<void> =>
      stopAll(foundation, { clock, app, openStreams, workflows, reconcilers, pulse, stopping }),
  }
}

export type Composition = ReturnType<typeof compose>
