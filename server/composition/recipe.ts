import { isIP } from 'node:net'
import { publicPortHost } from '../domains/index.ts'
import type { Rooms } from '../http/index.ts'
import { AddressError, type AddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { createKeyedSlots } from '../lib/keyed-slots.ts'
import { Secret } from '../lib/secret.ts'
import { createSlots, type Slots } from '../lib/slots.ts'
import type { ServiceObserver } from '../observations/index.ts'
import { loginOf } from '../registries/index.ts'
import type { RecipeOptions } from '../rollout/index.ts'
import { internalHost } from '../variables/index.ts'
import type { Workflows } from '../workflows/index.ts'

import type { Foundation } from './foundation.ts'

const buildLimits = { timeoutSeconds: 1800, maxLogBytes: 50 * 1024 * 1024 }

/** What a deployment acts through; `later` is there once everything is joined. */
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
  const deploymentSlots = () => createSlots(config.parallelDeployments, { reserve: config.parallelDeployments })
  const slotsOfNone = deploymentSlots()
  const slotsOf = new Map<string | null, Slots>(engines.all.map(({ name }) => [name, deploymentSlots()]))
  return {
    database,
    clock,
    log,
    vault,
    git,
    readCredential,
    registryLogin: async (sql, organizationId, id, signal) => {
      const registry = await later.registries().containerRegistries.open(sql, organizationId, id)
      await checkHost(foundation.guard, registry, signal)
      const login = loginOf(registry)
      return login && { username: login.username, password: new Secret(login.password) }
    },
    diskRefusal: (organizationId) => foundation.organizationDisk.refusal(organizationId),
    builderOf: builders.builderOf,
    buildLimits: { cpuMilli: config.buildCpuMilli, memoryMiB: config.buildMemoryMiB, ...buildLimits },
    engineOf: engines.engineOf,
    capabilitiesOf: engines.capabilitiesOf,
    layerGiB: config.layerGiB,
    routerOf: routers.routerOf,
    routesOf: routes.publisherOf,
    lines,
    collect: foundation.lineCollector.collect,
    workflows: later.workflows,
    endRepair: (service) => later.observer().endRepair(service),
    publicPorts: {
      ...config.publicPorts,
      // The router may listen under a name.
      address: isIP(config.routerHost) === 0 ? '127.0.0.1' : config.routerHost,
      hostOf: (service) => publicPortHost(internalHost(service), config.domain),
    },
    slots: {
      builds: createSlots(config.parallelBuilds, { reserve: 1 }),
      sameBuilds: createKeyedSlots(),
    },
    deploymentSlots: ({ engine }) => slotsOf.get(engine) ?? slotsOfNone,
    drainMs: 30_000,
    whenEnded: foundation.stateChanges.nudge,
    onDiskFull: later.onDiskFull,
  }
}

/** Asking DNS shall not hold a deployment. */
const dnsMs = 5000

/** The engine would open a private address for its user that the platform itself does not. A name that stands for nothing is the engine's to tell. */
async function checkHost(guard: AddressGuard, { name, url }: { name: string; url: string }, signal: AbortSignal) {
  const { hostname } = new URL(url.replace(/^oci:/, 'https:'))
  try {
    await guard.check(hostname, AbortSignal.any([signal, AbortSignal.timeout(dnsMs)]))
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AddressError && error.reason === 'refused')) return
    throw new AppError('invalid', `The registry "${name}" is not asked: ${error.message}`, { cause: error })
  }
}
