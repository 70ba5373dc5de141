/**
 * Durable work: workflows made of recorded steps, and reconcilers that keep something true, on PostgreSQL alone.
 *
 * Promised: a submitted workflow runs to exactly one end, also when processes are killed at any moment; one at a time per
 * key, in order of submission; a step that ended well is never run again; whoever lost a workflow writes nothing for it
 * any more; a cancel reaches the running step at once; a workflow that never gets on is parked and others go on.
 *
 * Not promised: that a step runs only once (look for its effect first); that effects outside the database stop at the very
 * moment a lease is lost (work must heed its signal); order between keys; any schedule by the wall clock.
 */

export { createFinisher, type FinisherOptions } from './finisher.ts'
export { isOutage } from './outage.ts'
export { type Reconcilers, type ReconcilersOptions, runReconcilers } from './reconcilers.ts'
export {
  CanceledError,
  LeaseLostError,
  type Reconciler,
  type RunContext,
  type Step,
  type StepOptions,
  StepTimeoutError,
  type Workflow,
} from './workflow.ts'
export { type Counts, createWorkflows, type Submission, type Workflows, type WorkflowsOptions } from './workflows.ts'
