import { join } from 'node:path'
import { readRegistryTarget, refusingBuilder } from '../builders/index.ts'
import { createAbsentEngine, createImageMirror } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { createAbsentRouter } from '../routers/index.ts'
import { driversOf } from './connecting.ts'
import type { Drivers, Ground } from './ground.ts'

const cannotBuild =
  'this installation builds no images, because it has no Docker Engine. Build the image elsewhere, push it to a ' +
  'registry, and deploy it as a container.'

/**
 * The drivers of an installation without a Docker Engine. Only connected clusters run services, and
 * images of registries are copied to the registry of the clusters.
 */
export function createDriversWithoutDocker(ground: Ground): Drivers {
  const { config } = ground
  const mirror = createImageMirror({
    clock,
    guard: createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets }),
    maxImageBytes: gibibytes(config.imageSizeGiB),
    floorBytes: gibibytes(config.diskFloorGiB),
    spoolDirectory: join(config.scratchDirectory, 'fetches'),
    insecureRegistries: config.insecureRegistries,
    target: () => readRegistryTarget(config.clusterRegistry),
  })
  return driversOf(ground, {
    engine: createAbsentEngine(config.dataDirectory),
    builder: refusingBuilder(`Nothing is built: ${cannotBuild}`),
    router: createAbsentRouter(clock),
    images: mirror,
    push: (image, target, attempt) => mirror.publish(image, target, attempt),
    pushProblem: (target, signal) => mirror.pushProblem(target, signal),
    cannotBuild,
  })
}
