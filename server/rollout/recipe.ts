import { BuildError, type Builder, type BuilderOf, type BuildLimits, builderOrNone } from '../builders/index.ts'
import type { Database, Sql } from '../database/index.ts'
import type { PublicPortRange, RoutePublisher } from '../domains/index.ts'
import {
  EngineError,
  type EngineOf,
  type EnginePlace,
  engineOrNone,
  type ImageStore,
  type NamedEngine,
  type Observes,
  type Reachable,
  type RegistryLogin,
  type Runner,
  type RunsCharts,
  type TaskRunner,
} from '../engines/index.ts'
import type { GitDriver } from '../git/index.ts'
import type { Attempt, LineSink } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { KeyedSlots } from '../lib/keyed-slots.ts'
import type { Logger } from '../lib/log.ts'
import { masker } from '../lib/masker.ts'
import type { Secret } from '../lib/secret.ts'
import type { Slots } from '../lib/slots.ts'
import { deploymentSink, type LineStore } from '../logs/index.ts'
import type { ReadGitCredential, RefusalOptions, RequestRow, TargetRow } from '../requests/index.ts'
import type { Router, RouterOf } from '../routers/index.ts'
import type { ServiceRow } from '../services/index.ts'
import type { RunnerImages, Stacks } from '../stacks/index.ts'
import type { Vault } from '../vault/index.ts'
import { type RunContext, type Step, StepTimeoutError, type Workflows } from '../workflows/index.ts'
import type { CanaryLooks } from './canary-looks.ts'

/** The roles of an engine that deployments use. */
export type RolloutEngine = Reachable & Runner & Observes & TaskRunner & ImageStore & RunsCharts

/** Where versions come from, and who may read them there. */
interface Sources {
  readonly git: GitDriver
  readonly readCredential: ReadGitCredential
  /**
   * Returns the login of a container registry, or undefined if it needs none. Throws AppError
   * `invalid` for a registry that must not be contacted.
   */
  readonly registryLogin?: (
    database: Database,
    organizationId: string,
    registryId: string,
    signal: AbortSignal,
  ) => Promise<RegistryLogin | undefined>
  /** Returns a chart of a Helm repository as an archive. Throws AppError `invalid`. */
  readonly fetchChart?: (
    database: Database,
    organizationId: string,
    chart: { readonly repository: string; readonly name: string; readonly version: string },
    signal: AbortSignal,
  ) => Promise<Buffer>
  /** Returns a chart that another one names, as an archive. Throws AppError `invalid`. */
  readonly fetchDependency?: (
    chart: { readonly repository: string; readonly name: string; readonly version: string },
    signal: AbortSignal,
  ) => Promise<Buffer>
}

/** The drivers of each cluster. */
interface ClusterDrivers {
  readonly engineOf: EngineOf<RolloutEngine>
  readonly builderOf: BuilderOf
  readonly routerOf: RouterOf
  /** Publishes routes to the router of a cluster. */
  readonly routesOf: (
    place: EnginePlace,
  ) => Pick<RoutePublisher, 'apply' | 'refusalOf' | 'lostPorts' | 'unreached' | 'uncertified'>
}

/** Runs of Terraform stacks. */
interface StackRuns {
  readonly stacks: Stacks
  /** The images of the engines of stacks. */
  readonly runnerImages: RunnerImages
}

/** How much deployments may use, and how many run at a time. */
interface RolloutLimits {
  readonly buildLimits: BuildLimits
  /** GiB that a replica or a run may write outside its volumes unless its service sets a limit. */
  readonly layerGiB: number
  /** Returns why the organization may use no more disk space, or undefined if it may. */
  readonly diskRefusal?: (organizationId: string) => Promise<string | undefined>
  /** `sameBuilds` is keyed by organization and identity of the image. */
  readonly slots: { readonly builds: Slots; readonly sameBuilds: KeyedSlots }
  /** Slots of each engine, so that a slow engine delays no deployment on another. */
  readonly deploymentSlots: (place: EnginePlace) => Slots
  /** How often canary deployments look at their requests. */
  readonly canaryLooks: CanaryLooks
  /** How long requests on an old release may continue after traffic moved. */
  readonly drainMs: number
}

/** How a service becomes reachable. */
interface Exposure {
  /** Assigns the hosts and ports of a service again, as its cluster and settings are now. */
  readonly declareHosts: (sql: Sql, serviceId: string) => Promise<void>
  /** The address on which databases are published, and the host name of each. */
  readonly publicPorts: PublicPortRange & {
    readonly address: string
    readonly hostOf: (service: Pick<ServiceRow, 'id' | 'kind'>) => string
  }
}

/** The parts of the platform that follow a deployment and its end. */
interface Followers {
  readonly lines: LineStore
  /**
   * Collects the service's run-time lines from now on. Masks the secrets of this release and of
   * earlier ones.
   */
  readonly collect: (serviceId: string, releaseId: string, secrets: readonly Secret[]) => void
  /** Ends a repair by the observer. From here on only the request acts on the service. */
  readonly endRepair: (serviceId: string) => Promise<void>
  /** Called when the end of a request was written. */
  readonly whenEnded?: () => void
  /** Called when the disk of the engine is full. */
  readonly onDiskFull?: () => void
}

/** The parts of other rooms that a deployment uses. */
export interface RecipeOptions
  extends RefusalOptions,
    Sources,
    ClusterDrivers,
    RolloutLimits,
    Exposure,
    Followers,
    StackRuns {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly vault: Vault
  readonly workflows: () => Pick<Workflows, 'submit' | 'requestCancel' | 'nudge'>
}

/** The same for the deployments on one cluster, with its drivers. */
export interface Recipe extends RecipeOptions {
  readonly engine: RolloutEngine
  readonly builder: Builder
  /** The engine that fetches images from registries. */
  readonly images: NamedEngine<ImageStore>
  readonly router: Router
  readonly routes: Pick<RoutePublisher, 'apply' | 'refusalOf' | 'lostPorts' | 'unreached' | 'uncertified'>
  readonly slots: RecipeOptions['slots'] & { readonly deployments: Slots }
}

/**
 * Returns the recipe for a cluster. A cluster that is only a record has no engine, so nothing runs
 * on it. Throws NoEngineError for an engine that this installation does not have.
 */
export function recipeFor(options: RecipeOptions, place: EnginePlace): Recipe {
  const engine = engineOrNone(options.engineOf, place)
  const builder = builderOrNone(options.builderOf, place)
  return {
    ...options,
    engine,
    builder,
    images: builder.images ?? { name: place.engine ?? '', engine },
    router: options.routerOf(place),
    routes: options.routesOf(place),
    slots: { ...options.slots, deployments: options.deploymentSlots(place) },
  }
}

/** The part of one service in a running request. */
export interface Work {
  readonly request: RequestRow
  readonly target: TargetRow
  readonly organizationId: string
  readonly step: Step
  readonly context: RunContext
  readonly report: Report
}

/** The deployment log. Each line belongs to the step that was entered last. */
export interface Report extends LineSink {
  enter(step: ReportStep): void
  /** Masks these secrets from now on. */
  hide(secrets: readonly Secret[]): void
}

/** The API's names of the steps that a line belongs to. */
export type ReportStep =
  | 'Start'
  | 'Build'
  | 'Built'
  | 'BuiltError'
  | 'Deploy'
  | 'Deployed'
  | 'DeployedError'
  | 'Pause'
  | 'Paused'
  | 'PausedError'
  | 'Delete'
  | 'Deleted'
  | 'DeletedError'
  | 'Restart'
  | 'Restarted'
  | 'RestartedError'
  | 'Cancelled'
  | 'Executing'
  | 'JobOutput'

export function createReport(lines: LineStore, executionId: string, target: TargetRow): Report {
  let step: ReportStep = 'Start'
  let mask = (line: string): string => line
  const hidden: Secret[] = []
  const sink = deploymentSink(lines, {
    executionId,
    serviceId: target.service_id,
    serviceName: target.name,
    kind: `${target.kind.charAt(0).toUpperCase()}${target.kind.slice(1)}`,
    step: () => step,
    mask: (line) => mask(line),
  })
  return {
    line: (text, level) => sink.line(text, level),
    enter: (next) => {
      step = next
    },
    hide: (secrets) => {
      hidden.push(...secrets)
      mask = masker(hidden)
    },
  }
}

/**
 * Retries work while the engine or the router cannot be reached. Throws every other error, and
 * throws when the signal is aborted.
 */
export async function whileUnreachable<T>(
  { clock }: Pick<RecipeOptions, 'clock'>,
  signal: AbortSignal,
  report: LineSink,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const away = whoIsAway(error)
      if (!away || signal.aborted) throw error
      if (tries === 0) report.line(`The ${away} cannot be reached; trying again until it answers.`, 'warning')
      await clock.sleep(1000, signal)
    }
  }
}

/** Retries work while the engine or the router cannot be reached. */
export type Patience = <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>

/** Returns the patience for other rooms: the same as that of deployments. */
export const createPatience =
  (clock: Clock): Patience =>
  ({ signal, output }, work) =>
    whileUnreachable({ clock }, signal, output, work)

function whoIsAway(error: unknown): 'engine' | 'router' | undefined {
  if (error instanceof AppError && error.code === 'unavailable') return 'router'
  const isEngines = error instanceof EngineError || error instanceof BuildError
  return isEngines && error.reason === 'unreachable' ? 'engine' : undefined
}

/** Returns the outcome of a step. A timeout becomes the failure that users read. */
export const explainLate = <T>(step: Promise<T>, failure: () => Error): Promise<T> =>
  step.catch((error: unknown) => {
    throw error instanceof StepTimeoutError ? failure() : error
  })
