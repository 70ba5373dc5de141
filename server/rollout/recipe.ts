import { BuildError, type Builder, type BuilderOf, type BuildLimits, builderOrNone } from '../builders/index.ts'
import type { Database } from '../database/index.ts'
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
import type { Vault } from '../vault/index.ts'
import { type RunContext, type Step, StepTimeoutError, type Workflows } from '../workflows/index.ts'

/** The roles of an engine that deployments use. */
export type RolloutEngine = Reachable & Runner & Observes & TaskRunner & ImageStore

/** Everything that a deployment acts through. */
export interface RecipeOptions extends RefusalOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly vault: Vault
  readonly git: GitDriver
  readonly readCredential: ReadGitCredential
  /**
   * Who enters a container registry; undefined where it is open to all. Throws AppError `invalid`
   * for one that is not to be contacted.
   */
  readonly registryLogin?: (
    database: Database,
    organizationId: string,
    registryId: string,
    signal: AbortSignal,
  ) => Promise<RegistryLogin | undefined>
  /** Why the organization may take nothing more of the disk; undefined if it may. */
  readonly diskRefusal?: (organizationId: string) => Promise<string | undefined>
  /** The builder of a cluster. */
  readonly builderOf: BuilderOf
  readonly buildLimits: BuildLimits
  /** The engine of a cluster. */
  readonly engineOf: EngineOf<RolloutEngine>
  /** GiB that a replica or a run may write outside of its volumes if its service does not say. */
  readonly layerGiB: number
  /** The router of a cluster. */
  readonly routerOf: RouterOf
  /** What hands routes to the router of a cluster. */
  readonly routesOf: (place: EnginePlace) => Pick<RoutePublisher, 'apply'>
  readonly lines: LineStore
  readonly workflows: () => Pick<Workflows, 'submit' | 'requestCancel' | 'nudge'>
  /**
   * The service's run-time lines are collected from now on, with what this release was given
   * masked, and what those before it were.
   */
  readonly collect: (serviceId: string, releaseId: string, secrets: readonly Secret[]) => void
  /**
   * Ends what the observer may have under way for a service: from here on the request alone acts on
   * it.
   */
  readonly endRepair: (serviceId: string) => Promise<void>
  /** Where databases are published on this machine, and under which host name each. */
  readonly publicPorts: PublicPortRange & {
    readonly address: string
    readonly hostOf: (service: Pick<ServiceRow, 'id' | 'kind'>) => string
  }
  /** `sameBuilds`: those of one organization that give the same image, by their identity. */
  readonly slots: { readonly builds: Slots; readonly sameBuilds: KeyedSlots }
  /** Each engine has its own, so that a slow one holds up no deployment on another. */
  readonly deploymentSlots: (place: EnginePlace) => Slots
  /** How long requests on an old release may go on after traffic moved. */
  readonly drainMs: number
  /** Is told when the end of a request was written. */
  readonly whenEnded?: () => void
  /** Is told when the disk of the engine is full. */
  readonly onDiskFull?: () => void
}

/** What the deployments on one cluster act through. */
export interface Recipe extends RecipeOptions {
  readonly engine: RolloutEngine
  readonly builder: Builder
  /** The engine that images of registries are fetched to. */
  readonly images: NamedEngine<ImageStore>
  readonly router: Router
  readonly routes: Pick<RoutePublisher, 'apply'>
  readonly slots: RecipeOptions['slots'] & { readonly deployments: Slots }
}

/**
 * Returns the recipe for a cluster. Nothing runs on a cluster that is only a record. Throws
 * NoEngineError.
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

/** One service's part of one request, while it runs. */
export interface Work {
  readonly request: RequestRow
  readonly target: TargetRow
  readonly organizationId: string
  readonly step: Step
  readonly context: RunContext
  readonly report: Report
}

/**
 * What people read in the deployment log; each line stands under the step that was entered last.
 */
export interface Report extends LineSink {
  enter(step: ReportStep): void
  /** From now on these texts are masked. */
  hide(secrets: readonly Secret[]): void
}

/** The API's words for what a line belongs to. */
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
 * Goes on trying while the engine or the router is away; everything else, and the signal's end, is
 * thrown.
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

/** Returns the patience of other rooms: the same as that of deployments. */
export const createPatience =
  (clock: Clock): Patience =>
  ({ signal, output }, work) =>
    whileUnreachable({ clock }, signal, output, work)

function whoIsAway(error: unknown): 'engine' | 'router' | undefined {
  if (error instanceof AppError && error.code === 'unavailable') return 'router'
  const isEngines = error instanceof EngineError || error instanceof BuildError
  return isEngines && error.reason === 'unreachable' ? 'engine' : undefined
}

/** The outcome of a step; its time-out as the failure that people are told. */
export const explainLate = <T>(step: Promise<T>, failure: () => Error): Promise<T> =>
  step.catch((error: unknown) => {
    throw error instanceof StepTimeoutError ? failure() : error
  })
