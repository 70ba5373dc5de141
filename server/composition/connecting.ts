import { createRegistryBuilder, type NamedBuilder, readRegistryLogin } from '../builders/index.ts'
import { createClusterAccess } from '../clusters/index.ts'
import { type DockerEngine, KubernetesEngine, localEngine } from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Router } from '../routers/index.ts'
import type { Drivers, Ground } from './ground.ts'

/** The drivers of this machine. The drivers of connected clusters use them. */
interface LocalDrivers {
  readonly engine: DockerEngine
  readonly builder: NamedBuilder['builder']
  readonly router: Router
}

/**
 * The drivers of connected clusters. Images are built here and published in a registry. Traffic
 * goes through the router of this machine, straight to the replicas.
 */
export function createConnect(
  { config, database, vault, instance, log }: Ground,
  { engine: local, builder, router }: LocalDrivers,
): Drivers['connect'] {
  const guard = createAddressGuard({ allowedPrivateCidrs: config.allowPrivateTargets })
  const accessOf = createClusterAccess({ database, vault, allowsHost: guard.literalIsAllowed })
  const registry = config.clusterRegistry
  const published = createRegistryBuilder({
    builder,
    images: { name: localEngine, engine: local },
    push: (image, target, attempt) => local.pushImage(image, target, attempt),
    registry,
  })
  return ({ id }) => {
    const engine = new KubernetesEngine({
      access: () => accessOf(id),
      instance,
      guard,
      clock,
      log,
      helperImage: config.clusterToolsImage,
      registry: registry && { repository: registry.repository, login: () => readRegistryLogin(registry) },
    })
    return { engine, builder: published, router, close: () => engine.close() }
  }
}
