/**
 * Durable work: workflows of recorded steps, and reconcilers that keep a property true, on
 * PostgreSQL alone.
 *
 * Guarantees: a submitted workflow ends exactly once, even if processes are killed at any moment.
 * Workflows of a key run one at a time, in order of submission. A successful step never runs again.
 * A process that lost a workflow writes nothing more for it. A cancel reaches the running step at
 * once. A workflow without progress is parked, and others continue.
 *
 * No guarantees: a step may run more than once (look for its effect first). Effects outside the
 * database may continue for a moment after a lease is lost (work must obey its signal). There is no
 * order between keys, and no schedule by wall-clock time.
 */

export { createSharedDuty, createSoleDuty, type Duty, type DutyOptions } from './duty.ts'
export { createFinisher, type FinisherOptions } from './finisher.ts'
export { type OnDuty, runOnDuty } from './on-duty.ts'
export { isOutage } from './outage.ts'
export { type Reconcilers, type ReconcilersOptions, runReconcilers } from './reconcilers.ts'
export {
  CanceledError,
  LeaseLostError,
  type RunContext,
  type Step,
  type StepOptions,
  StepTimeoutError,
  type Workflow,
} from './workflow.ts'
export { type Counts, createWorkflows, type Submission, type Workflows, type WorkflowsOptions } from './workflows.ts'
