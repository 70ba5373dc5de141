import { type Sql, withOwner } from '../database/index.ts'
import type { TaskFile, TaskOutcome } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { asInvalid, ForeignJsonProblem } from '../lib/foreign-json.ts'
import { newId } from '../lib/id.ts'
import type { Secret } from '../lib/secret.ts'
import { setServiceOutputs } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import { backendRefusal } from './backend-refusal.ts'
import { type PackedResult, planIn, resultIn } from './foreign-files.ts'
import { lockedText } from './locked-text.ts'
import { planRefusal } from './plan-refusal.ts'
import type { PlanSummary } from './plan-summary.ts'
import { findPlan, forgetRuns, type OpenPlan } from './run-record-store.ts'
import { files, unchangedExitCode } from './runner-program.ts'
import {
  type Backend,
  endStaleRun,
  findBackend,
  findLock,
  findStackRun,
  insertStackRun,
  replaceResources,
  type StackAction,
  type StackRunRow,
  setPlan,
} from './stack-store.ts'
import type { SavedPlan } from './stack-task.ts'
import { readState, type StateFile } from './state-file.ts'
import { findState, insertState, keptSerial } from './state-store.ts'

export interface StacksOptions {
  readonly vault: Vault
  readonly clock: Clock
}

/** The stack that a run belongs to. */
export interface StackOwner {
  readonly serviceId: string
  readonly environmentId: string
  readonly organizationId: string
}

/** The state that a run has written, or why it cannot be kept. */
export type LeftState =
  | { readonly state: StateFile; readonly problem?: undefined }
  | { readonly state?: undefined; readonly problem: string }

/**
 * States, plans and outputs of stacks. Everything that may contain a secret is sealed. Each
 * function writes in the caller's transaction.
 */
export function createStacks({ vault, clock }: StacksOptions) {
  /**
   * Writes a newer state. A run has one version, which it replaces. A state that was elsewhere is
   * the newest one, whatever versions were kept before.
   */
  const writeState = async (
    sql: Sql,
    owner: StackOwner,
    { runId, isMoved }: { readonly runId: string; readonly isMoved: boolean },
    state: StateFile,
  ): Promise<void> => {
    // The empty state with which a first run begins.
    if (!isMoved && state.serial === 0) return
    const { serviceId, organizationId } = owner
    const former = await findState(sql, serviceId)
    const isKnown = isMoved ? former?.serial === state.serial : (former?.serial ?? -1) >= state.serial
    if (former?.lineage === state.lineage && isKnown) return
    const ofRun = former?.run_id === runId ? former : undefined
    const { id, number } = ofRun ?? { id: newId(), number: (former?.number ?? 0) + 1 }
    const { text, serial, lineage } = state
    const sealed_state = await vault.seal(sql, organizationId, stateCell(id), text)
    const of = { id, service_id: serviceId, run_id: runId, created_at: clock.now(), number }
    await insertState(sql, {
      ...of,
      serial,
      lineage,
      bytes: Buffer.byteLength(text),
      sealed_state,
      restored_from: null,
    })
  }
  return {
    /**
     * Begins a run and takes the lock of its stack. Throws AppError `conflict` if it is taken, or
     * if the state is in another backend than the run expects.
     */
    async begin(
      sql: Sql,
      run: {
        readonly id: string
        readonly service_id: string
        readonly release_id: string
        readonly request_id: string
        readonly action: StackAction
        readonly backend: Backend
      },
    ): Promise<void> {
      // Requests of an environment run one after the other, so the run of another one has ended.
      await endStaleRun(sql, run, clock.now())
      await forgetRuns(sql, run.service_id)
      const refused = backendRefusal(run, await findBackend(sql, run.service_id))
      if (refused !== undefined) throw new AppError('conflict', refused)
      if (await insertStackRun(sql, { ...run, created_at: clock.now() })) return
      throw new AppError('conflict', await lockRefusal(sql, run.service_id))
    },

    /**
     * Begins a check for drift and takes the lock of its stack. Returns why it cannot begin: the
     * lock is taken, or the state is in another backend than that of the deployed version.
     */
    async beginDrift(
      sql: Sql,
      run: Pick<StackRunRow, 'id' | 'service_id' | 'release_id'> & { readonly backend: Backend },
    ): Promise<string | undefined> {
      const { service_id } = run
      const check = { ...run, request_id: null, action: 'DRIFT' } as const
      const refused = backendRefusal(check, await findBackend(sql, service_id))
      if (refused !== undefined) return refused
      await forgetRuns(sql, service_id)
      if (await insertStackRun(sql, { ...check, created_at: clock.now() })) return undefined
      return lockRefusal(sql, service_id)
    },

    /** Returns the newest version of the state. Undefined if the stack has none. */
    async openState(sql: Sql, { serviceId, organizationId }: StackOwner): Promise<string | undefined> {
      const row = await findState(sql, serviceId)
      return row && (await vault.open(sql, organizationId, stateCell(row.id), row.sealed_state)).reveal()
    },

    /** Reads the state that a run has written. It may take seconds, so no transaction waits. */
    async readLeftState({ organizationId }: StackOwner, outcome: TaskOutcome): Promise<LeftState | undefined> {
      const file = outcome.files?.get(files.state)
      if (!file) return undefined
      const { content, problem } = file
      if (!content) return { problem: `The state that it wrote cannot be kept: ${problem}.` }
      const state = await withOwner(organizationId, () => readState(content))
      return state ? { state } : { problem: 'The state that it wrote is damaged. The version before is kept.' }
    },

    /**
     * Keeps the state that a run has written as a new version, unless it is unchanged. Returns why
     * it could not be kept; the version before is the newest one then.
     */
    async keepState(
      sql: Sql,
      owner: StackOwner,
      runId: string,
      left: LeftState | undefined,
      { isMoved = false }: { readonly isMoved?: boolean } = {},
    ): Promise<string | undefined> {
      if (left?.state) await writeState(sql, owner, { runId, isMoved }, left.state)
      return left?.problem
    },

    /** Keeps a state that was moved to the platform. The backend of the files keeps its own. */
    async keepMoved(
      sql: Sql,
      owner: StackOwner,
      run: { readonly id: string; readonly backend: Backend },
      left: LeftState | undefined,
    ): Promise<string | undefined> {
      if (run.backend === 'user_provided') return undefined
      if (!left) return 'The backend of the files returned no state.'
      return this.keepState(sql, owner, run.id, left, { isMoved: true })
    },

    /**
     * Keeps the state of a run that has not ended. The next one of the same run replaces it, and so
     * does the last one.
     */
    keepSnapshot: (sql: Sql, owner: StackOwner, runId: string, state: StateFile): Promise<void> =>
      writeState(sql, owner, { runId, isMoved: false }, state),

    /**
     * Summarizes the plan that a run has made. It may take seconds, so no transaction waits. Throws
     * AppError `invalid` if it cannot be read.
     */
    async readLeftPlan(
      { organizationId }: StackOwner,
      secrets: readonly Secret[],
      outcome: TaskOutcome,
    ): Promise<PlanSummary> {
      const isUnchanged = outcome.exitCode === unchangedExitCode
      const json = isUnchanged ? Buffer.from('{}') : contentOf(outcome, files.planJson)
      return withOwner(organizationId, () => planIn(json, secrets).catch(asInvalid('The plan cannot be read: it')))
    },

    /** Keeps a plan until it is applied. */
    async keepPlan(
      sql: Sql,
      { organizationId }: StackOwner,
      run: { readonly id: string; readonly plan: PlanSummary },
      outcome: TaskOutcome,
    ): Promise<void> {
      const [saved, lock] = [files.plan, files.lock].map((path) => {
        return Buffer.from(outcome.files?.has(path) ? contentOf(outcome, path) : []).toString('base64')
      })
      const sealed = await vault.seal(sql, organizationId, planCell(run.id), JSON.stringify([saved, lock]))
      await setPlan(sql, run.id, { plan: run.plan, sealed, now: clock.now() })
    },

    /**
     * Makes the plan of an earlier run that of a run that applies it. Returns the plan. Throws
     * AppError `conflict` if it is no longer kept, or if the state has changed since.
     */
    async takePlan(
      sql: Sql,
      { serviceId, organizationId }: Pick<StackOwner, 'serviceId' | 'organizationId'>,
      { releaseId, runId }: { readonly releaseId: string; readonly runId: string },
    ): Promise<OpenPlan> {
      const shown = await findPlan(sql, { serviceId, releaseId })
      if (!shown) throw new AppError('conflict', 'The run of the plan is no longer kept. Deploy the stack instead.')
      const refused = planRefusal(shown)
      if (refused !== undefined) throw new AppError('conflict', refused)
      const former = (await findStackRun(sql, shown.id))?.sealed_plan ?? ''
      const text = await vault.open(sql, organizationId, planCell(shown.id), former)
      const sealed = await vault.seal(sql, organizationId, planCell(runId), text.reveal())
      await setPlan(sql, runId, { plan: shown.plan, sealed, now: clock.now() })
      return shown
    },

    /** Returns the plan of a run that has not ended. */
    async openPlan(sql: Sql, { organizationId }: StackOwner, runId: string): Promise<SavedPlan> {
      const run = await findStackRun(sql, runId)
      if (!run?.sealed_plan) throw new Error(`run ${runId} of a stack has no plan`)
      const text = await vault.open(sql, organizationId, planCell(runId), run.sealed_plan)
      // `keepPlan` has written it.
      const [plan, lock] = JSON.parse(text.reveal()) as [string, string]
      return { plan: Buffer.from(plan, 'base64'), lock: Buffer.from(lock, 'base64') }
    },

    /**
     * Reads the resources and outputs after an apply. It may take seconds, so no transaction waits.
     * Undefined if the run listed none and did not succeed. Throws AppError `invalid` if they
     * cannot be read.
     */
    async readLeftResult(
      { organizationId }: StackOwner,
      secrets: readonly Secret[],
      outcome: TaskOutcome,
      { isWhole }: { readonly isWhole: boolean },
    ): Promise<PackedResult | undefined> {
      const { content, problem = 'the run listed none' } = outcome.files?.get(files.result) ?? {}
      if (!content && !isWhole) return undefined
      if (!content) throw new AppError('invalid', `The resources cannot be read: ${problem}.`)
      const reading = withOwner(organizationId, () => resultIn(content, secrets))
      // A run that failed says why.
      return reading.catch((error: unknown) =>
        error instanceof ForeignJsonProblem && !isWhole ? undefined : asInvalid('The result cannot be read: it')(error),
      )
    },

    /** Stores resources, and the outputs of a run that succeeded. */
    async keepResult(
      sql: Sql,
      owner: StackOwner,
      { resources, outputs }: PackedResult,
      { isWhole }: { readonly isWhole: boolean },
    ): Promise<void> {
      const rows = resources.map((resource) => ({ ...resource, id: newId() }))
      await replaceResources(sql, owner.serviceId, rows, clock.now())
      if (isWhole) await setServiceOutputs(sql, { vault, clock }, owner, outputs)
    },
  }
}
export type Stacks = ReturnType<typeof createStacks>

async function lockRefusal(sql: Sql, serviceId: string): Promise<string> {
  const lock = await findLock(sql, serviceId)
  if (!lock) return 'The stack was locked a moment ago. Try again.'
  return lockedText(lock, await keptSerial(sql, serviceId, lock.id))
}

/** Where a version of a state is sealed. */
export const stateCell = (id: string) => ({ table: 'stack_state', row: id, column: 'sealed_state' })
const planCell = (id: string) => ({ table: 'stack_run', row: id, column: 'sealed_plan' })

function contentOf({ files: all }: TaskOutcome, path: string): Uint8Array {
  const file: TaskFile = all?.get(path) ?? { problem: 'the run wrote none' }
  if (file.content) return file.content
  throw new AppError('invalid', `The plan cannot be kept: ${file.problem}.`)
}
