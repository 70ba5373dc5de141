import { join } from 'node:path'
import { applicationIssuer } from '../accounts/index.ts'
import { createOrganizationDisk } from '../disk/index.ts'
import { createNameServers, createRouteMarks, createRoutePublishers, createServeHost } from '../domains/index.ts'
import { reconcilerName } from '../engines/index.ts'
import { createGit, createGitHost, type GitHost } from '../git/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { masker } from '../lib/masker.ts'
import { createSafeFetch } from '../lib/safe-fetch.ts'
import { createCollector, openLineStore } from '../logs/index.ts'
import { createLineSource, createWishMarks, type LineCollector } from '../observations/index.ts'
import { createGitTokens } from '../organizations/index.ts'
import { createHostedPushes } from '../pushes/index.ts'
import type { RecipeOptions } from '../rollout/index.ts'
import { createRepositoryAccess } from '../services/index.ts'
import { createStateChanges } from '../state-changes/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { createFleet } from './fleet.ts'
import type { Drivers, Ground } from './ground.ts'

/** The parts that rooms share: addresses that may be called, git, lines, routes. */
export function createFoundation(
  ground: Ground,
  drivers: Drivers,
  later: {
    readonly workflows: () => Pick<Workflows, 'submit' | 'nudge'>
    readonly measureDisk: () => void
    /** Called when a cluster was connected or disconnected. */
    readonly fleetChanged: () => void
  },
) {
  const { config, log, database, vault } = ground
  const fleet = createFleet(drivers, later.fleetChanged)
  const { engines, builders, routers } = fleet
  const data = (name: string): string => join(config.dataDirectory, name)
  const guard = createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets })
  const safeFetch = createSafeFetch(guard)
  const hostedPushes = createHostedPushes({ database, clock, log, workflows: later.workflows, gitHost: () => gitHost })
  const organizationDisk = createOrganizationDisk({
    database,
    clock,
    log,
    limitBytes: gibibytes(config.organizationDiskGiB),
    repositorySizes: (signal) => gitHost.sizes(signal),
    measureSoon: later.measureDisk,
  })
  const gitHost: GitHost = createGitHost({
    directory: data('git'),
    log,
    watch: hostedPushes.watch,
    spareOf: organizationDisk.spare,
    limits: {
      repositoryBytes: gibibytes(config.repositorySizeGiB),
      organizationBytes: gibibytes(config.organizationRepositoriesGiB),
    },
  })
  /**
   * The current and the previous addresses of the built-in git host. The server also answers at
   * `localhost`, whatever its public URL is.
   */
  const home: readonly string[] = [config.publicUrl, `http://localhost:${config.port}`, ...ground.formerUrls]
  const git = createGit({
    directory: join(config.scratchDirectory, 'checkouts'),
    guard,
    clock,
    contacted: createRepositoryAccess({ database, log }),
    builtInHost: {
      origins: home,
      repositoryPath: (name, organization) => organization && gitHost.repositoryPath(organization, name),
    },
  })
  const lines = openLineStore({ directory: data('logs'), mayWrite: ground.duty.isHeld, clock, log })
  const collector = createCollector({ sourceOf: createLineSource(database, engines), store: lines, clock, log })
  const lineCollector: LineCollector = {
    isCollected: collector.isFollowing,
    collect: (service, release, secrets) => collector.follow(service, { release, mask: masker(secrets) }),
  }
  const routeMarks = createRouteMarks({ database, clock })
  const routes = createRoutePublishers({
    database,
    marks: routeMarks,
    routers,
    nameOf: (name) => reconcilerName('routes', name),
    facts: { speaksTls: config.routerTls !== undefined, signIn: applicationIssuer(ground.pepper, config) },
  })
  const gitTokens = createGitTokens({ database, vault, clock, guard })
  const readCredential: RecipeOptions['readCredential'] = gitTokens.credential
  return {
    ...ground,
    fleet,
    engines,
    builders,
    routers,
    clock,
    guard,
    safeFetch,
    organizationDisk,
    gitHost,
    hostedPushes,
    home,
    git,
    lines,
    collector,
    lineCollector,
    routes,
    serveHost: createServeHost({ database, routes }),
    routeMarks,
    wishMarks: createWishMarks({ database, clock }),
    nameServers: createNameServers(config.nameServers),
    gitTokens,
    readCredential,
    stateChanges: createStateChanges({ database, clock, log }),
  }
}

export type Foundation = ReturnType<typeof createFoundation>
