import { isIP } from 'node:net'
import type { RecipeOptions } from '../deployments/index.ts'
import { publicPortHost } from '../domains/index.ts'
import type { Rooms } from '../http/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { createSlots } from '../lib/slots.ts'
import type { Observer } from '../observations/index.ts'
import { loginOf } from '../registries/index.ts'
import { internalHost } from '../variables/index.ts'
import type { Workflows } from '../workflows/index.ts'

import { keptReleases } from './disk.ts'
import type { Foundation } from './foundation.ts'

/** What every build may use at most. */
const buildLimits = { cpuMilli: 4000, memoryMiB: 4096, timeoutSeconds: 1800, maxLogBytes: 50 * 1024 * 1024 }
/** What a deployment acts through; `later` is there once everything is joined. */
export function createRecipe(
  foundation: Foundation,
  later: {
    readonly workflows: () => Workflows
    readonly registries: () => Rooms['registries']
    readonly observer: () => Observer
    readonly onDiskFull: () => void
  },
): RecipeOptions {
  const { config, database, log, vault, git, readCredential, builder, engine, router, routes, lines, collect } =
    foundation
  return {
    database,
    clock,
    log,
    vault,
    git,
    readCredential,
    registryLogin: async (sql, organizationId, id) => {
      const login = loginOf(await later.registries().containerRegistries.open(sql, organizationId, id))
      return login && { username: login.username, password: new Secret(login.password) }
    },
    builder,
    buildLimits,
    engine,
    router,
    routes,
    lines,
    collect,
    workflows: later.workflows,
    endRepair: (service) => later.observer().endRepair(service),
    publicPorts: {
      ...config.publicPorts,
      // The router may listen under a name.
      address: isIP(config.routerHost) === 0 ? '127.0.0.1' : config.routerHost,
      hostOf: (service) => publicPortHost(internalHost(service), config.domain),
    },
    slots: { builds: createSlots(config.parallelBuilds), deployments: createSlots(config.parallelDeployments) },
    drainMs: 30_000,
    keptReleases,
    onDiskFull: later.onDiskFull,
  }
}
