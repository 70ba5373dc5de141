import type { Duplex } from 'node:stream'
import type { AddressGuard } from '../../lib/address.ts'
import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import { machine } from '../../lib/machine.ts'
import {
  type Endpoint,
  type Engine,
  type EngineCapabilities,
  type EngineCapacity,
  EngineError,
  type EngineReport,
  type Finding,
  type LogLine,
  type LogQuery,
  type MachineReport,
  type Observation,
  type PinnedImage,
  type RegistryLogin,
  type Release,
  type ReplicaUsage,
  type RunningTask,
  type ShellWish,
  type Starting,
  type Task,
  type TaskFile,
  type TaskOutcome,
  type Terminal,
} from '../engine.ts'
import { kubernetesCapabilities } from './capabilities.ts'
import { capacityOf } from './capacity.ts'
import type { HelmSettings } from './charts/helm-program.ts'
import { createKubernetesCharts, type KubernetesCharts } from './charts/kubernetes-charts.ts'
import { advice, gatherFacts, judgeCluster } from './check.ts'
import { createKube, type KubeAccess } from './client/index.ts'
import { eraseAll } from './departure.ts'
import { asEngineErrors } from './engine-errors.ts'
import { ensureEnvironment, eraseEnvironment, listEnvironments } from './environments.ts'
import { hasKeda, lacksKeda } from './event-scaler.ts'
import { KubernetesVolumes } from './kubernetes-volumes.ts'
import { serviceLogs } from './logs.ts'
import { readMachines } from './machines.ts'
import { controllerLeaveSeconds } from './manifests.ts'
import { Observations } from './observations.ts'
import { inPlace } from './own-place.ts'
import type { PullRegistry } from './pull-secret.ts'
import { renewEnvironment } from './renew.ts'
import { reportOf } from './report.ts'
import { endReplicas, eraseService, retireService } from './retire.ts'
import { runningContainer } from './running-pod.ts'
import { startRelease } from './start.ts'
import { endTask, freeTask, listTasks, prepareTask, readTaskFile, runTask, stopTask } from './tasks.ts'
import { connectTo, execIn, openTerminal } from './terminals.ts'
import { usageOf } from './usage.ts'
import { labelsOfCluster } from './users-labels.ts'

/** The images of a cluster. */
interface ClusterImages {
  /**
   * An image with a shell, GNU tar, `sync` and `head`, as the nodes of the cluster name it. For
   * archives of volumes and output files of jobs.
   */
  readonly helperImage: string
  /** The registry from which the nodes take images. Undefined: there is none. */
  readonly registry: PullRegistry | undefined
  /** Why no image is built for it from source code. Undefined: images are built. */
  readonly cannotBuild?: string | undefined
}

/** How requests reach services of a cluster. */
export interface ClusterTraffic {
  /**
   * Whether names of its services lead to the cluster's own ingress controller. Otherwise a router
   * of this machine connects to the addresses of pods, and the guard decides to which ones: the API
   * server reports them, and may belong to somebody else.
   */
  readonly hasDomain?: boolean
  /** Returns whether its router shares requests between two versions of a service. */
  readonly sharesRequests?: () => boolean
}

export interface KubernetesEngineOptions extends ClusterImages, ClusterTraffic {
  /** Returns how to reach the cluster. Nothing is asked before the first call. */
  readonly access: () => Promise<KubeAccess>
  /** Two installations on one cluster never see each other's objects. */
  readonly instance: string
  readonly guard: AddressGuard
  readonly clock: Clock
  readonly log?: Pick<Logger, 'warn'>
  /** Returns the labels of the cluster's labels groups, for its namespaces. None without it. */
  readonly clusterLabels?: () => Promise<Readonly<Record<string, string>>>
  /** The program that installs charts. Undefined: the cluster runs no charts. */
  readonly helm?: HelmSettings | undefined
  /** Whether images of engines of stacks are configured. */
  readonly runsStacks?: boolean
}

const lookMs = 60_000

/** Runs workloads as objects of one cluster of Kubernetes. */
export class KubernetesEngine extends KubernetesVolumes implements Engine {
  readonly charts: KubernetesCharts | undefined
  readonly #runsStacks: boolean
  #lacksEvents = false
  readonly #cannotBuild: string | undefined
  readonly #observations: Observations
  readonly #hasDomain: boolean
  readonly #sharesRequests: () => boolean
  #capacity: EngineCapacity = machine
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(options: KubernetesEngineOptions) {
    const { access, guard, hasDomain = false, cannotBuild, helm, runsStacks = false, ...rest } = options
    const { sharesRequests = () => false } = options
    super({
      kube: inPlace(createKube({ access, guard })),
      mayConnect: hasDomain ? () => true : guard.literalIsAllowed,
      ...(hasDomain && { leaveSeconds: controllerLeaveSeconds }),
      ...rest,
    })
    this.#cannotBuild = cannotBuild
    this.#hasDomain = hasDomain
    this.#runsStacks = runsStacks
    this.#sharesRequests = sharesRequests
    this.#observations = new Observations(this.host)
    this.charts = helm && createKubernetesCharts(this.host, helm)
  }

  get capabilities(): EngineCapabilities {
    return {
      ...kubernetesCapabilities,
      shapes: new Set([
        ...kubernetesCapabilities.shapes,
        ...(this.charts ? (['chart'] as const) : []),
        ...(this.#runsStacks ? (['stack'] as const) : []),
      ]),
      settings: new Set([...kubernetesCapabilities.settings, ...(this.#sharesRequests() ? (['canary'] as const) : [])]),
      events: this.#lacksEvents ? { lacks: lacksKeda } : 'scale',
      ...(this.#cannotBuild !== undefined && { cannotBuild: this.#cannotBuild }),
    }
  }

  /** That of the largest node, once the cluster was asked. */
  get capacity(): EngineCapacity {
    return this.#capacity
  }

  ping(signal: AbortSignal): Promise<void> {
    return asEngineErrors(async () => void (await this.host.kube.version(signal)))
  }

  report(signal: AbortSignal): Promise<EngineReport> {
    return reportOf(this.host, (limit) => this.#observations.nodes(limit), signal)
  }

  machines(signal: AbortSignal): Promise<MachineReport[]> {
    return asEngineErrors(async () => readMachines(this.host, await this.#observations.nodes(signal), signal))
  }

  listFindings(signal: AbortSignal): Promise<readonly Finding[]> {
    return asEngineErrors(async () => [
      ...judgeCluster({ ...(await gatherFacts(this.host, signal)), hasDomain: this.#hasDomain }),
      ...labelsOfCluster((await this.host.clusterLabels?.()) ?? {}).problems.map(advice),
      ...(this.charts ? [await this.charts.findProgram(signal)] : []),
    ])
  }

  /**
   * Returns a pinned reference unchanged. The cluster's builder resolves tags and publishes images.
   */
  async pinImage(image: string, _login: RegistryLogin | undefined, _attempt: Attempt): Promise<PinnedImage> {
    const [, digest] = image.split('@')
    if (digest === undefined) throw new EngineError('refused', `"${image}" has no digest; publish it first`)
    return { reference: image, digest, isThere: false, namedBy: 'registry' }
  }

  /** Does nothing: nodes fetch images when a replica starts. */
  async fetchImage(): Promise<void> {}

  prepareEnvironment(environment: string, { signal }: Attempt): Promise<void> {
    return asEngineErrors(async () => void (await ensureEnvironment(this.host, environment, signal)))
  }

  start(release: Release, attempt: Starting): Promise<Endpoint[]> {
    return asEngineErrors(async () => {
      try {
        return await startRelease(this.host, release, attempt)
      } finally {
        this.#observations.started(release.service)
      }
    })
  }

  retire(service: string, keep: string | undefined, { signal }: Attempt): Promise<void> {
    return asEngineErrors(() => retireService(this.host, service, keep, signal))
  }

  endReplicas(service: string, replicas: readonly string[], { signal }: Attempt): Promise<void> {
    return asEngineErrors(() => endReplicas(this.host, service, new Set(replicas), signal))
  }

  erase(service: string, { signal }: Attempt): Promise<void> {
    return asEngineErrors(() => eraseService(this.host, service, signal))
  }

  eraseEnvironment(environment: string, { signal }: Attempt): Promise<void> {
    return asEngineErrors(() => eraseEnvironment(this.host, environment, signal))
  }

  listEnvironments(signal: AbortSignal): Promise<readonly string[]> {
    return asEngineErrors(() => listEnvironments(this.host, signal))
  }

  eraseAll({ signal }: Attempt): Promise<string[]> {
    return asEngineErrors(() => eraseAll(this.host, signal))
  }

  renewEnvironment(
    environment: string,
    releases: () => Promise<readonly Release[]>,
    attempt: Attempt,
  ): Promise<string[]> {
    return asEngineErrors(() => renewEnvironment(this.host, environment, releases, attempt))
  }

  observe(service: string, signal: AbortSignal): Promise<Observation> {
    return asEngineErrors(() => this.#observations.one(service, signal))
  }

  observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>> {
    return asEngineErrors(async () => {
      const seen = await this.#observations.all(signal)
      this.#capacity = capacityOf(await this.#observations.nodes(signal)) ?? this.#capacity
      await this.#lookForKinds(signal)
      return seen
    })
  }

  /** Looks once a minute whether the cluster has gained or lost the kinds that it may lack. */
  async #lookForKinds(signal: AbortSignal): Promise<void> {
    const nowMs = this.host.clock.monotonic()
    if (nowMs - this.#lookedMs < lookMs) return
    this.#lookedMs = nowMs
    // A cluster that is away keeps what is known of it.
    this.#lacksEvents = await hasKeda(this.host.kube, signal).then(
      (has) => !has,
      () => this.#lacksEvents,
    )
  }

  usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]> {
    return asEngineErrors(() => usageOf(this.host, service, signal))
  }

  prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void> {
    return asEngineErrors(() => prepareTask(this.host, release, run, attempt))
  }

  runTask(release: Release<Task>, run: string, attempt: Parameters<Engine['runTask']>[2]): Promise<TaskOutcome> {
    return asEngineErrors(() => runTask(this.host, release, run, attempt))
  }

  stopTask(release: Release<Task>, run: string, attempt: Attempt): Promise<TaskOutcome | undefined> {
    return asEngineErrors(() => stopTask(this.host, release, run, attempt))
  }

  readTaskFile(release: Release<Task>, run: string, path: string, signal: AbortSignal): Promise<TaskFile | undefined> {
    return asEngineErrors(() => readTaskFile(this.host, release, { run, path }, signal))
  }

  freeTask(run: string, attempt: Attempt): Promise<void> {
    return asEngineErrors(() => freeTask(this.host, run, attempt))
  }

  endTask(run: string, attempt: Attempt): Promise<void> {
    return asEngineErrors(() => endTask(this.host, run, attempt))
  }

  listTasks(signal: AbortSignal): Promise<RunningTask[]> {
    return asEngineErrors(() => listTasks(this.host, signal))
  }

  logs(service: string, query: LogQuery, signal: AbortSignal): AsyncIterable<LogLine> {
    return serviceLogs(this.host, service, query, signal)
  }

  exec(service: string, command: readonly string[], signal: AbortSignal) {
    return asEngineErrors(async () => {
      return execIn(this.host, await runningContainer(this.host, service, {}, signal), command, signal)
    })
  }

  shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal> {
    return asEngineErrors(async () => {
      return openTerminal(this.host, await runningContainer(this.host, service, wish, signal), wish, signal)
    })
  }

  connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex> {
    return asEngineErrors(async () => {
      return connectTo(this.host, await runningContainer(this.host, service, { replica }, signal), port, signal)
    })
  }

  /**
   * Does nothing: the nodes of a cluster check liveness, restart replicas and run commands at
   * starts.
   */
  async checkLiveness(): Promise<string[]> {
    return []
  }

  /** Does nothing, as `checkLiveness`. */
  async followRestarts(): Promise<string[]> {
    return []
  }

  /** Does nothing: each environment has network rules of its own. */
  async guardNetworks(): Promise<boolean> {
    return false
  }

  /** Ends all connections to the cluster. */
  close(): void {
    this.#observations.close()
    this.host.kube.close()
  }
}
