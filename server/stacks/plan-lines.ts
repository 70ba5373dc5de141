import type { PlanAction } from '@quayside/contract/services/stack-records.ts'
import type { PlannedChange, PlannedResource, PlanSummary } from './plan-summary.ts'

/** The sign and the word of each action in a log, as people know them from the engines. */
const signs = { create: '+', update: '~', replace: '±', delete: '-', read: '<', forget: '.' } as const
const words = {
  create: 'create',
  update: 'change',
  replace: 'replace',
  delete: 'destroy',
  read: 'read',
  forget: 'forget',
} as const satisfies Record<PlanAction, string>

/** Pure: returns the lines in which a log shows a plan. */
export function planLines({ counts, resources, outputs, has_changes, drift }: PlanSummary): string[] {
  const found = driftLines(drift)
  if (!has_changes) return [...found, 'The plan changes nothing.']
  const counted = (['create', 'update', 'replace', 'delete'] as const).map(
    (action) => `${counts[action]} to ${words[action]}`,
  )
  const whole = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return [
    ...found,
    `The plan: ${counted.join(', ')}.`,
    ...resources.flatMap((resource) => resourceLines(resource, words[resource.action])),
    ...(whole > resources.length ? [`… and ${whole - resources.length} more.`] : []),
    ...(outputs.length > 0 ? [`Outputs that change: ${outputs.join(', ')}.`] : []),
  ]
}

/** Pure: returns the lines that show changes made outside of the stack. */
export const driftLines = (drift: PlanSummary['drift']): string[] =>
  drift.length === 0
    ? []
    : [
        'Changed outside of the stack since its last apply:',
        ...drift.flatMap((resource) => resourceLines(resource, resource.action === 'delete' ? 'deleted' : 'changed')),
      ]

const resourceLines = ({ address, action, changes }: PlannedResource, word: string): string[] => [
  `${signs[action]} ${word} ${address}`,
  ...changes.map((change) => `    ${changeText(change, action)}`),
]

function changeText({ name, before, after, is_sensitive, is_known }: PlannedChange, action: PlanAction): string {
  if (is_sensitive) return `${name}: (sensitive)`
  const then = is_known ? (after ?? 'null') : '(known after apply)'
  return `${name}: ${action === 'create' ? then : `${before ?? 'null'} → ${then}`}`
}
