import { createJwtVerifier, credentialReader } from '../access/index.ts'
import { type createAccounts, issuerOf, ownAccounts } from '../accounts/index.ts'
import { localAuthority } from '../certificates/index.ts'
import { createReadiness, type Pulse } from '../database/index.ts'
import { platformDoor } from '../domains/index.ts'
import {
  createBudgets,
  createHandlers,
  createRateLimiter,
  createServer,
  type OpenStreams,
  type Rooms,
  readManifestVersion,
  targetQuery,
} from '../http/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { metricsSecret } from '../metrics/index.ts'
import { createReceiver, placesOfRepository } from '../pushes/index.ts'
import { createPlans } from '../rollout/index.ts'
import { createStreams } from '../streams/index.ts'

import type { Workflows } from '../workflows/index.ts'
import type { Foundation } from './foundation.ts'

/** The parts that work without a request, as far as the HTTP server needs them. */
interface Working {
  readonly openStreams: OpenStreams
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
  readonly pulse: Pulse | undefined
}

/** Creates the HTTP server with its dependencies. */
export function createDoor(
  foundation: Foundation,
  rooms: Rooms,
  accounts: ReturnType<typeof createAccounts>,
  { openStreams, workflows, pulse }: Working,
) {
  const { config, log, database, vault, pepper, gitHost, home, engines, lines, stateChanges } = foundation
  const verifyJwt = createJwtVerifier(config.issuers, clock, {
    issuer: issuerOf(config.publicUrl),
    audience: config.publicUrl,
    accounts: ownAccounts,
    publicKeys: accounts.keys.publicKeys,
  })
  return createServer({
    database,
    vault,
    plans: createPlans({ database, vault, capabilitiesOf: engines.capabilitiesOf, behind: rooms.pushRecords.behind }),
    log,
    clock,
    version: readManifestVersion(),
    allowedOrigins: config.corsOrigins,
    // The root of an authority of the installation is not known everywhere, and the setting may go.
    isHttpsOnly: config.publicUrl.startsWith('https:') && config.routerTls?.directory !== localAuthority,
    hostNames: [new URL(config.publicUrl).hostname, config.host],
    readCredential: credentialReader({ pepper, verifyJwt }),
    budgets: createBudgets(createRateLimiter(config.rateLimit, config.rateBurst, clock), {
      ofOrganizations: createRateLimiter(config.organizationRateLimit, config.organizationRateBurst, clock),
      reserves: createRateLimiter(1, 5, clock),
      trustedProxies: config.trustedProxies,
      door: platformDoor(config, pepper),
    }),
    connectionLimits: config.routerConnections,
    trustedProxies: config.apiProxies,
    handlers: createHandlers(rooms),
    targetQuery,
    gitHost,
    placesOfRepository: (organizationId, name) => placesOfRepository({ database, home }, organizationId, name),
    receiver: createReceiver({ database, vault, clock, workflows, home }),
    accounts,
    metrics: { secret: metricsSecret(pepper), figures: rooms.metrics },
    streams: {
      openStreams,
      stateChanges,
      feeds: createStreams({ database, clock, engineOf: engines.engineOf, lines, stateChanges, stages: rooms.stages }),
      ownOrigin: config.publicUrl,
    },
    pulse,
    ready: createReadiness(database, pulse),
  })
}
