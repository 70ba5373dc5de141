import type { ClusterState } from '@quayside/contract/enums.ts'
import type { ClusterLogStep } from '@quayside/contract/resources/cluster-parts.ts'
import type { Database, Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { RunContext, Step, Workflow } from '../workflows/index.ts'
import { runDeletion } from './cluster-deletion.ts'
import { runStop } from './cluster-stop.ts'
import {
  findOperation,
  finishOperation,
  insertLogLine,
  markDeployed,
  type OperationKind,
  type OperationRow,
  setStatus,
  unfinishedOperations,
} from './operation-store.ts'

export const clusterWorkflow = 'cluster'

/** The platform's own parts on a cluster. Each call can be repeated. */
export interface ClusterParts {
  /** Rejects with the reason while the engine of the cluster does not answer. */
  readonly checkEngine: (clusterId: string, signal: AbortSignal) => Promise<void>
  /** Lists what the cluster lacks. */
  readonly listFindings: (clusterId: string, signal: AbortSignal) => Promise<readonly ClusterFinding[]>
  /** Lists the environments of the cluster. */
  readonly listEnvironments: (clusterId: string) => Promise<readonly ClusterEnvironment[]>
  /**
   * Brings what runs of an environment to this version, without an interruption. Returns a line for
   * each change.
   */
  readonly renewEnvironment: (
    clusterId: string,
    environmentId: string,
    signal: AbortSignal,
  ) => Promise<readonly string[]>
  /** Stops the services of an environment and waits until none runs. Throws the reason. */
  readonly stopEnvironment: (
    environmentId: string,
    by: { readonly id: string; readonly name: string },
    signal: AbortSignal,
  ) => Promise<void>
  /** Deletes an environment with its services and waits until it is gone. Throws the reason. */
  readonly removeEnvironment: (
    environmentId: string,
    by: { readonly id: string; readonly name: string },
    signal: AbortSignal,
  ) => Promise<void>
  /** Removes everything that the platform created on the cluster. */
  readonly eraseAll: (clusterId: string, signal: AbortSignal) => Promise<void>
  /** Replaces the cluster's router by one of this version. The table is kept. */
  readonly renewRouter: (clusterId: string, signal: AbortSignal) => Promise<void>
  /** Sends the whole table of routes to the router of the cluster. */
  readonly publishRoutes: (clusterId: string, signal: AbortSignal) => Promise<void>
}

export type ClusterEnvironment = Readonly<Record<'id' | 'name', string>>

/** Something that a cluster lacks, with its effect and the command that mends it. */
export interface ClusterFinding {
  readonly message: string
  /** Nothing can run on the cluster without it. */
  readonly isBlocking: boolean
}

export interface ClusterWorkflowOptions {
  readonly database: Database
  readonly clock: Clock
  /** The version of the platform. */
  readonly version: string
  readonly parts: ClusterParts
}

export interface OperationInput {
  readonly operationId: string
  readonly [key: string]: string
}

const patienceSeconds = 120
/** How long the replicas of one environment may take to be replaced. */
const renewalSeconds = 3600
type Log = Parameters<typeof insertLogLine>[2]

/**
 * Begin → engine → check → each environment → router → routes → end. A dry run ends after the
 * check.
 */
export function createClusterWorkflow(options: ClusterWorkflowOptions): Workflow<OperationInput> {
  return {
    name: clusterWorkflow,
    run: (input, step, context) => run(options, input, step, context),
    abandoned: (input, reason, sql) => abandon(options, input.operationId, reason, sql),
    unfinished: unfinishedOperations,
  }
}

async function run(
  options: ClusterWorkflowOptions,
  input: OperationInput,
  step: Step,
  context: RunContext,
): Promise<void> {
  const { database, clock, version, parts } = options
  const id = input.operationId
  const operation = await findOperation(database, id)
  if (!operation) return
  if (operation.kind === 'DELETE') return runDeletion(options, operation, input, step, context)
  if (operation.kind === 'STOP') return runStop(options, operation, input, step, context)
  const say = (sql: Sql, line: Omit<Log, 'at' | 'is_error'>) =>
    insertLogLine(sql, operation, { ...line, at: clock.now(), is_error: false })

  await step('BEGIN', () =>
    context.fenced(async (sql) => {
      await setStatus(sql, operation.cluster_id, 'DEPLOYING')
      await say(sql, { step: 'ValidateSystemRequirements', message: 'Checking that the engine answers.' })
    }),
  )
  const patiently = (name: string, work: (signal: AbortSignal) => Promise<void>) =>
    step(name, ({ signal }) => untilDone(options, work, signal), { deadlineSeconds: patienceSeconds })
  await patiently('ENGINE', (signal) => parts.checkEngine(operation.cluster_id, signal))
  const blocking = await step(
    'CHECK',
    async ({ signal }) => {
      const findings = await parts.listFindings(operation.cluster_id, signal)
      await context.fenced((sql) => report(sql, options, operation, findings))
      return findings.flatMap(({ message, isBlocking }) => (isBlocking ? message : []))
    },
    { deadlineSeconds: patienceSeconds },
  )
  if (blocking.length > 0) throw new Error(`the cluster lacks what it needs: ${blocking.join(' ')}`)
  if (operation.kind === 'DRY_RUN') return endDryRun(options, operation, step, context)
  await step('CREATE', () =>
    context.fenced((sql) => say(sql, { step: 'Create', message: `Updating the cluster to version ${version}.` })),
  )
  await renewEnvironments(options, operation, step, context)
  await patiently('ROUTER', (signal) => parts.renewRouter(operation.cluster_id, signal))
  await patiently('ROUTES', (signal) => parts.publishRoutes(operation.cluster_id, signal))
  await step('END', () =>
    context.fenced(async (sql) => {
      await markDeployed(sql, operation.cluster_id, version, clock.now())
      await say(sql, { step: 'Created', message: `The cluster has version ${version} and every route.` })
      await finishOperation(sql, id, clock.now())
    }),
  )
}

/** Writes a line for each finding. */
async function report(
  sql: Sql,
  { clock }: ClusterWorkflowOptions,
  operation: OperationRow,
  findings: readonly ClusterFinding[],
): Promise<void> {
  for (const { message, isBlocking } of findings) {
    const line = { at: clock.now(), step: 'ValidateSystemRequirements', message, is_error: isBlocking } as const
    await insertLogLine(sql, operation, line)
  }
}

/**
 * Renews one environment in each step. One that cannot be renewed keeps none of the others from it.
 * Throws the reasons at the end.
 */
async function renewEnvironments(
  options: ClusterWorkflowOptions,
  operation: OperationRow,
  step: Step,
  context: RunContext,
): Promise<void> {
  const { parts, clock } = options
  const environments = await step('ENVIRONMENTS', async () => [...(await parts.listEnvironments(operation.cluster_id))])
  const problems: string[] = []
  for (const { id, name } of environments) {
    const problem = await step(
      `ENVIRONMENT/${id}`,
      async ({ signal }) => {
        const { lines, isError } = await renewOne(options, operation, id, signal)
        await context.fenced(async (sql) => {
          for (const line of lines) {
            const message = `Environment "${name}": ${line}`
            await insertLogLine(sql, operation, { at: clock.now(), step: 'Create', message, is_error: isError })
          }
        })
        return isError ? `environment "${name}": ${lines.join(' ')}` : null
      },
      { deadlineSeconds: renewalSeconds },
    )
    if (problem !== null) problems.push(problem)
  }
  if (problems.length > 0) throw new Error(problems.join('; '))
}

async function renewOne(
  { parts }: ClusterWorkflowOptions,
  operation: OperationRow,
  environmentId: string,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly isError: boolean }> {
  try {
    return { lines: await parts.renewEnvironment(operation.cluster_id, environmentId, signal), isError: false }
  } catch (error) {
    signal.throwIfAborted()
    return { lines: [messageOf(error)], isError: true }
  }
}

/** The cluster is DRY_RUN for a moment, then returns to its previous status. */
async function endDryRun(
  { clock }: ClusterWorkflowOptions,
  operation: OperationRow,
  step: Step,
  context: RunContext,
): Promise<void> {
  await step('DRY_RUN', () => context.fenced((sql) => setStatus(sql, operation.cluster_id, 'DRY_RUN')))
  await step('END', () =>
    context.fenced(async (sql) => {
      await setStatus(sql, operation.cluster_id, operation.former_status)
      const message = 'The cluster can be deployed. Nothing was changed.'
      await insertLogLine(sql, operation, { at: clock.now(), step: 'Created', message, is_error: false })
      await finishOperation(sql, operation.id, clock.now())
    }),
  )
}

/** Retries until it succeeds, or until the step's deadline. Then it reports the last reason. */
async function untilDone(
  { clock }: ClusterWorkflowOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      return await work(signal)
    } catch (error) {
      if (signal.aborted) throw error
      await clock.sleep(1000, signal).catch(() => {
        throw new Error(`${messageOf(signal.reason)}: ${messageOf(error)}`, { cause: signal.reason })
      })
    }
  }
}

/** For a workflow that failed. An operation that has finished is unchanged. */
async function abandon({ clock }: ClusterWorkflowOptions, id: string, reason: string, sql: Sql): Promise<void> {
  const operation = await findOperation(sql, id)
  if (!operation || operation.finished_at !== null) return
  const { status, step, sentence, advice } = ends[operation.kind]
  await setStatus(sql, operation.cluster_id, status ?? operation.former_status)
  const message = `The cluster could not be ${sentence} (${reason}). ${advice}`
  await insertLogLine(sql, operation, { at: clock.now(), step, message, is_error: true })
  await finishOperation(sql, id, clock.now())
}

/** The status of a cluster whose operation failed, and what its log says. */
interface FailedEnd {
  /** Absent: the status before the operation. */
  readonly status?: ClusterState
  readonly step: ClusterLogStep
  readonly sentence: string
  readonly advice: string
}

const notDeployed = { step: 'CreateError', sentence: 'deployed', advice: 'Try again.' } as const
const ends: Readonly<Record<OperationKind, FailedEnd>> = {
  DEPLOY: { ...notDeployed, status: 'DEPLOYMENT_ERROR' },
  UPGRADE: { ...notDeployed, status: 'DEPLOYMENT_ERROR' },
  DRY_RUN: notDeployed,
  STOP: {
    status: 'STOP_ERROR',
    step: 'PauseError',
    sentence: 'stopped',
    advice: 'Stop it again. Services that did not stop still run.',
  },
  DELETE: {
    status: 'DELETE_ERROR',
    step: 'DeleteError',
    sentence: 'deleted',
    advice:
      'Delete it again. With deleteMode=DELETE_QOVERY_CONFIG its records are deleted, and everything on the cluster ' +
      'remains there.',
  },
}
