import type { Workflows } from '../workflows/index.ts'

/** What rooms may ask of workflows before these are joined. */
export type LateWorkflows = Pick<Workflows, 'submit' | 'submission' | 'requestCancel' | 'nudge'>

/** Passes calls on to workflows that are created later, from the kinds of work that need them. */
export const lateWorkflows = (workflows: () => Workflows): LateWorkflows => ({
  submit: (...given) => workflows().submit(...given),
  submission: (...given) => workflows().submission(...given),
  requestCancel: (...given) => workflows().requestCancel(...given),
  nudge: () => workflows().nudge(),
})
