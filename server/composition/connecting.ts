import { join } from 'node:path'
import {
  type ClusterBuilders,
  createRegistryBuilder,
  type NamedBuilder,
  type RegistryBuilderOptions,
  readPullConfig,
  readRegistryLogin,
} from '../builders/index.ts'
import { createClusterAccess, networksOf } from '../clusters/index.ts'
import { usualRules } from '../domains/index.ts'
import {
  createKube,
  type Engine,
  environmentsOf,
  type ImageStore,
  inPlace,
  instanceOn,
  issuedLabels,
  KubernetesEngine,
  localEngine,
  portLabels,
  replicasOn,
  routeLabels,
  routerLabels,
} from '../engines/index.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createClusterRouter, type Router } from '../routers/index.ts'
import { clusterLabelsReader } from '../services/index.ts'
import type { Drivers, Ground } from './ground.ts'

/** The drivers of this machine. The drivers of connected clusters use them. */
interface LocalDrivers {
  readonly engine: Engine
  readonly builder: NamedBuilder['builder']
  readonly router: Router
  /** Has the images that are published for clusters, and publishes them. */
  readonly images: ImageStore
  readonly pushProblem: RegistryBuilderOptions['pushProblem']
  /** Builds and pushes images for each cluster. */
  readonly building: ClusterBuilders
}

/** Returns the drivers of this machine and of connected clusters. */
export const driversOf = (ground: Ground, local: LocalDrivers): Drivers => ({
  engines: [{ name: localEngine, engine: local.engine }],
  builders: [{ name: localEngine, builder: local.builder }],
  routers: [{ name: localEngine, router: local.router }],
  connect: createConnect(ground, local),
})

/**
 * The drivers of connected clusters. Images are built here or in the cluster, and
 * published in a registry. Traffic
 * goes through the router of this machine, straight to the replicas. A cluster with a domain of its
 * own has its ingress controller for it, or our router in pods.
 */
function createConnect(
  { config, database, vault, instance: installation, log, certificates }: Ground,
  { router, images, pushProblem, building }: LocalDrivers,
): Drivers['connect'] {
  const { inCluster, allowPrivateTargets } = config
  const { literalIsAllowed: allowsHost } = createAddressGuard({ allowedPrivateCidrs: allowPrivateTargets })
  const accessOf = createClusterAccess({ database, vault, clock, allowsHost, inCluster })
  const registry = config.clusterRegistry
  const publishing = { images: { name: localEngine, engine: images }, pushProblem, registry }
  const traffic = {
    className: config.clusterIngressClass,
    local: router,
    clock,
    usual: usualRules(),
  }
  const ownRouters = { settings: config.clusterRouter, pullConfig: () => readPullConfig(registry) }
  return ({ id, hasDomain }) => {
    const guard = createAddressGuard({ allowedPrivateCidrs: [...allowPrivateTargets, ...networksOf(inCluster, id)] })
    const instance = instanceOn(installation, id)
    const kube = inPlace(createKube({ access: () => accessOf(id), guard }))
    const clusterRouter = createClusterRouter({
      ...traffic,
      kube,
      hasDomain,
      instance,
      labels: routeLabels(instance),
      issuedLabels: issuedLabels(instance),
      ports: { portType: config.clusterPorts, labels: portLabels(instance) },
      podsOf: replicasOn(instance),
      ownRouters: {
        ...{ ...ownRouters, labels: routerLabels(instance), reached: environmentsOf(instance) },
        certificates: certificates.sourceOf(id),
      },
    })
    const engine = new KubernetesEngine({
      access: () => accessOf(id),
      instance,
      guard,
      clock,
      log,
      clusterLabels: clusterLabelsReader(database, id),
      helperImage: config.clusterToolsImage,
      hasDomain,
      sharesRequests: () => clusterRouter.sharesRequests(),
      runsStacks: config.runnerImages.length > 0,
      helm: { program: config.helm, directory: join(config.scratchDirectory, 'charts', id) },
      cannotBuild: building.cannotBuild,
      registry: registry && { repository: registry.repository, login: () => readRegistryLogin(registry) },
    })
    return {
      engine,
      builder: createRegistryBuilder({
        ...publishing,
        builder: building.builderOf({ id, kube, instance }),
        push: building.pushOf({ id }),
      }),
      router: clusterRouter,
      close: () => {
        engine.close()
        kube.close()
      },
    }
  }
}
