import type { PlanAction } from '@quayside/contract/services/stack-records.ts'
import { isObject } from './json-values.ts'

/** A plan without sensitive values, as the database and the API keep it. */
export type PlanSummary = {
  readonly counts: { readonly [A in PlanAction]: number }
  readonly resources: readonly PlannedResource[]
  /** Names of outputs that the plan changes. */
  readonly outputs: readonly string[]
  /** Whether an apply would change anything. */
  readonly has_changes: boolean
  /** Changes that were made outside of the stack since its last apply. */
  readonly drift: readonly PlannedResource[]
}
export type PlannedResource = {
  readonly address: string
  readonly action: PlanAction
  readonly changes: readonly PlannedChange[]
}
/** A changed attribute. Its values are JSON. Null: absent, sensitive or not yet known. */
export type PlannedChange = {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
  readonly is_sensitive: boolean
  /** False: the value is known after the apply. */
  readonly is_known: boolean
}

/** Resources, attributes and outputs that a summary lists. The counts include all resources. */
const mostResources = 500
const mostAttributes = 30
const mostOutputs = 1000
const longestText = 120
/** Characters of all attributes. The resources beyond are listed without theirs. */
const mostText = 500_000

/** Hides the secrets of a text. */
export type Mask = (text: string) => string
const same: Mask = (text) => text

/**
 * Pure: summarizes a plan in the form of `show -json`. Its resources are lists, or are read one by
 * one. `mask` hides secrets that no schema marks as sensitive. Throws TypeError if it is not a
 * plan.
 */
export function summarizePlan(plan: unknown, mask: Mask = same): PlanSummary {
  if (!isObject(plan)) throw new TypeError('the plan is not an object')
  const counts = { create: 0, update: 0, replace: 0, delete: 0, read: 0, forget: 0 }
  const resources = resourcesOf(plan['resource_changes'], mask, (action) => counts[action]++)
  const outputs = Object.entries(Object(plan['output_changes']))
    .flatMap(([name, change]) => (isObject(change) && actionOf(change['actions']) ? [cut(name)] : []))
    .slice(0, mostOutputs)
  const hasEffects = Object.values(counts).some((count) => count > 0)
  const drift = resourcesOf(plan['resource_drift'], mask, () => {})
  return { counts, resources, outputs, has_changes: hasEffects || outputs.length > 0, drift }
}

function resourcesOf(entries: unknown, mask: Mask, count: (action: PlanAction) => void): PlannedResource[] {
  const resources: PlannedResource[] = []
  let left = mostText
  for (const entry of isIterable(entries) ? entries : []) {
    if (!isObject(entry) || !isObject(entry['change'])) continue
    const action = actionOf(entry['change']['actions'])
    if (!action) continue
    count(action)
    if (resources.length >= mostResources) continue
    const changes = left > 0 ? changesOf(entry['change'], action, mask) : []
    left -= JSON.stringify(changes).length
    // The key of an instance may be a value.
    resources.push({ address: cut(mask(String(entry['address']))), action, changes })
  }
  return resources
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value

const actions: Readonly<Record<string, PlanAction>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  'delete create': 'replace',
  'create delete': 'replace',
  read: 'read',
  forget: 'forget',
}
function actionOf(words: unknown): PlanAction | undefined {
  const text = Array.isArray(words) ? words.join(' ') : ''
  return Object.hasOwn(actions, text) ? actions[text] : undefined
}

function changesOf(change: Readonly<Record<string, unknown>>, action: PlanAction, mask: Mask): PlannedChange[] {
  if (action === 'delete' || action === 'forget') return []
  const [before, after] = [Object(change['before']), Object(change['after'])]
  const unknown = Object(change['after_unknown'])
  const isHidden = (name: string): boolean =>
    [change['before_sensitive'], change['after_sensitive']].some((side) => side === true || hasTrue(Object(side)[name]))
  const found: PlannedChange[] = []
  for (const name of [...new Set([before, after, unknown].flatMap((side) => Object.keys(side)))].sort()) {
    if (found.length === mostAttributes) break
    const is_known = !hasTrue(unknown[name])
    const [was, is] = [textOf(before[name]), textOf(after[name])]
    if (is_known && was === is) continue
    const is_sensitive = isHidden(name)
    const shown = (text: string | null): string | null => (is_sensitive || text === null ? null : cut(mask(text)))
    const sides = { before: shown(was), after: is_known ? shown(is) : null }
    found.push({ name: cut(name), ...sides, is_sensitive, is_known })
  }
  return found
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value))
/**
 * Cuts a text for a column. A text that is cut before it is masked could end in a part of a secret.
 * The column takes no U+0000 and no half of a character.
 */
const cut = (text: string): string =>
  (text.length > longestText ? `${text.slice(0, longestText)}…` : text).toWellFormed().replaceAll('\0', '\ufffd')

/** Whether a mark of a value is set for any part of it. */
function hasTrue(mark: unknown): boolean {
  const open: unknown[] = [mark]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === true) return true
    if (typeof next !== 'object' || next === null) continue
    for (const part of Object.values(next)) if (part) open.push(part)
  }
  return false
}
