import { join } from 'node:path'
import { createClusterBuilders, readRegistryTarget, refusingBuilder } from '../builders/index.ts'
import { createAbsentEngine, createImageMirror } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { createAbsentRouter } from '../routers/index.ts'
import { driversOf } from './connecting.ts'
import type { Drivers, Ground } from './ground.ts'

const nothingHere = 'Nothing is built on this machine, because it has no Docker Engine.'

/**
 * The drivers of an installation without a Docker Engine. Only connected clusters run services, and
 * images of registries are copied to the registry of the clusters.
 */
export function createDriversWithoutDocker(ground: Ground): Drivers {
  const { config } = ground
  const guard = createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets })
  const mirror = createImageMirror({
    clock,
    guard,
    maxImageBytes: gibibytes(config.imageSizeGiB),
    floorBytes: gibibytes(config.diskFloorGiB),
    spoolDirectory: join(config.scratchDirectory, 'fetches'),
    insecureRegistries: config.insecureRegistries,
    target: () => readRegistryTarget(config.clusterRegistry),
  })
  return driversOf(ground, {
    engine: createAbsentEngine(config.dataDirectory),
    builder: refusingBuilder(nothingHere),
    router: createAbsentRouter(clock),
    images: mirror,
    pushProblem: (target, signal) => mirror.pushProblem(target, signal),
    building: createClusterBuilders({
      clock,
      guard,
      mirror,
      registry: config.clusterRegistry,
      settings: config.clusterBuilder,
    }),
  })
}
