import { readCanarySteps } from '@quayside/contract/services/canary-steps.ts'
import type { Draft, Json } from './draft.ts'
import type { FieldSpec } from './fields.ts'

// How a new version gets its requests, as a form.

const prefix = 'deployment.canary.'
const limits: readonly FieldSpec[] = [
  { path: 'step_seconds', label: 'Seconds of each step', type: 'number' },
  {
    path: 'max_error_percent',
    label: 'Most failed requests, in percent',
    type: 'number',
    hint: 'Above it, the deployment goes back to the previous version. 100: never.',
  },
  {
    path: 'max_latency_ms',
    label: 'A request is slow after, in ms',
    type: 'number',
    hint: 'Until its response begins. 0: no request is slow.',
  },
  {
    path: 'max_slow_percent',
    label: 'Most slow requests, in percent',
    type: 'number',
    hint: 'Above it, the deployment goes back too.',
  },
  { path: 'min_requests', label: 'Fewest requests that are judged', type: 'number' },
]
const steps: FieldSpec = {
  path: 'steps',
  label: 'Steps',
  type: 'text',
  keepsEmpty: true,
  placeholder: '5, 25, 50',
  hint: 'The percentages of requests that a new version gets, one after the other. Empty: all at once.',
}
const names = [steps, ...limits].map(({ path }) => path)

/** Pure: whether the service has settings for canary steps. */
export const hasCanary = (values: Draft): boolean => Object.hasOwn(values, `${prefix}steps`)

/** Pure: the settings as the values of the form. */
export const canaryDraft = (values: Draft): Draft =>
  Object.fromEntries(names.map((name) => [name, values[prefix + name]]))

/** Pure: the values of the form as settings. */
export const canaryValues = (draft: Draft): Draft =>
  Object.fromEntries(names.map((name) => [prefix + name, draft[name]]))

/** Pure: the fields of the form. */
export const canaryFields = (draft: Draft): readonly FieldSpec[] =>
  stepsIn(draft['steps']).length === 0 ? [steps] : [steps, ...limits]

/** Returns the steps of a text, or the text itself while it cannot be read. */
function stepsIn(value: Json): readonly (number | string)[] {
  const text = typeof value === 'string' ? value.trim() : ''
  try {
    return readCanarySteps(text)
  } catch {
    return [text]
  }
}

/** Pure: sentences that say how a new version gets its requests. */
export function canaryWords(values: Draft): string {
  const of = canaryDraft(values)
  const shares = stepsIn(of['steps'])
  if (shares.length === 0) return 'A new version gets all requests once it is healthy.'
  const share = shares.length === 1 ? `${shares[0]} %` : `${shares.slice(0, -1).join(', ')} and then ${shares.at(-1)} %`
  const time = shares.length === 1 ? `for ${of['step_seconds']} s` : `for ${of['step_seconds']} s each`
  const reasons = [
    ...(of['max_error_percent'] === 100 ? [] : [`more than ${of['max_error_percent']} % of them fail`]),
    ...(of['max_latency_ms'] === 0 || of['max_slow_percent'] === 100
      ? []
      : [`more than ${of['max_slow_percent']} % wait longer than ${of['max_latency_ms']} ms for a response`]),
  ]
  const back = reasons.length === 0 ? '' : ` It goes back to the previous version if ${reasons.join(' or ')}.`
  return `A new version gets ${share} of the requests ${time}, then all of them.${back}`
}
