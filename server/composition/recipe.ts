import { publicPortAddress, publicPortHost } from '../domains/index.ts'
import type { Rooms } from '../http/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createKeyedSlots } from '../lib/keyed-slots.ts'
import { createSlots } from '../lib/slots.ts'
import type { ServiceObserver } from '../observations/index.ts'
import { createChartFetcher, createDependencyFetcher, createRegistryLogin } from '../registries/index.ts'
import { createCanaryLooks, createDeploymentSlots, type RecipeOptions } from '../rollout/index.ts'
import { createStacks } from '../stacks/index.ts'
import { internalHost } from '../variables/index.ts'
import type { Workflows } from '../workflows/index.ts'

import { redeclareHosts } from './copying.ts'
import type { Foundation } from './foundation.ts'

const buildLimits = { timeoutSeconds: 1800, maxLogBytes: 50 * 1024 * 1024 }

/** The dependencies of a deployment. `later` is available once everything is joined. */
export function createRecipe(
  foundation: Foundation,
  later: {
    readonly workflows: () => Workflows
    readonly registries: () => Rooms['registries']
    readonly observer: () => ServiceObserver
    readonly onDiskFull: () => void
  },
): RecipeOptions {
  const { config, database, log, vault, git, readCredential, builders, engines, routers, routes, lines } = foundation
  return {
    database,
    clock,
    log,
    vault,
    git,
    readCredential,
    registryLogin: createRegistryLogin({
      guard: foundation.guard,
      open: (...given) => later.registries().containerRegistries.open(...given),
    }),
    fetchChart: createChartFetcher(later.registries),
    fetchDependency: createDependencyFetcher(later.registries),
    diskRefusal: (organizationId) => foundation.organizationDisk.refusal(organizationId),
    builderOf: builders.builderOf,
    buildLimits: { cpuMilli: config.buildCpuMilli, memoryMiB: config.buildMemoryMiB, ...buildLimits },
    engineOf: engines.engineOf,
    capabilitiesOf: engines.capabilitiesOf,
    layerGiB: config.layerGiB,
    runnerImages: config.runnerImages,
    stacks: createStacks({ vault, clock }),
    routerOf: routers.routerOf,
    routesOf: routes.publisherOf,
    lines,
    collect: foundation.lineCollector.collect,
    workflows: later.workflows,
    endRepair: (service) => later.observer().endRepair(service),
    declareHosts: redeclareHosts(foundation),
    publicPorts: {
      ...config.publicPorts,
      address: publicPortAddress(config.routerHost),
      hostOf: (service) => publicPortHost(internalHost(service), config.domain),
    },
    slots: {
      builds: createSlots(config.parallelBuilds, { reserve: 1 }),
      sameBuilds: createKeyedSlots(),
    },
    deploymentSlots: createDeploymentSlots(config.parallelDeployments),
    canaryLooks: createCanaryLooks(),
    drainMs: 30_000,
    whenEnded: foundation.stateChanges.nudge,
    onDiskFull: later.onDiskFull,
  }
}
