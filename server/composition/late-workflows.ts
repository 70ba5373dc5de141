import type { Workflows } from '../workflows/index.ts'

/** The functions of workflows that rooms may call before the workflows are created. */
export type LateWorkflows = Pick<Workflows, 'submit' | 'submission' | 'requestCancel' | 'nudge'>

/** Passes calls on to workflows that are created later, from the rooms that need them. */
export const lateWorkflows = (workflows: () => Workflows): LateWorkflows => ({
  submit: (...given) => workflows().submit(...given),
  submission: (...given) => workflows().submission(...given),
  requestCancel: (...given) => workflows().requestCancel(...given),
  nudge: () => workflows().nudge(),
})
