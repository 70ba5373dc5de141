import { isObject } from './json-values.ts'

/** Effects of a plan on a resource, with the sign of each in a log. */
const signs = { create: '+', change: '~', replace: '±', destroy: '-', read: '<', forget: '.' } as const
export type PlanEffect = keyof typeof signs

/** A plan without sensitive values, as the database and the API keep it. */
export type PlanSummary = {
  readonly counts: { readonly [E in PlanEffect]: number }
  readonly resources: readonly PlannedResource[]
  /** Names of outputs that the plan changes. */
  readonly outputs: readonly string[]
  /** Whether an apply would change anything. */
  readonly hasChanges: boolean
}
export type PlannedResource = {
  readonly address: string
  readonly effect: PlanEffect
  /** Changed attributes as `name: before → after`. */
  readonly changes: readonly string[]
}

/** Resources and attributes that a summary lists. The counts include all. */
const mostResources = 500
const mostAttributes = 30
const longestText = 120

/** Pure: summarizes a plan in the form of `show -json`. Throws TypeError if it is not a plan. */
export function summarizePlan(plan: unknown): PlanSummary {
  if (!isObject(plan)) throw new TypeError('the plan is not an object')
  const changes = Array.isArray(plan['resource_changes']) ? plan['resource_changes'] : []
  const counts = { create: 0, change: 0, replace: 0, destroy: 0, read: 0, forget: 0 }
  const resources: PlannedResource[] = []
  for (const entry of changes) {
    if (!isObject(entry) || !isObject(entry['change'])) continue
    const effect = effectOf(entry['change']['actions'])
    if (!effect) continue
    counts[effect]++
    if (resources.length < mostResources) {
      resources.push({ address: cut(String(entry['address'])), effect, changes: changesOf(entry['change'], effect) })
    }
  }
  const outputs = Object.entries(Object(plan['output_changes'])).flatMap(([name, change]) =>
    isObject(change) && effectOf(change['actions']) ? [cut(name)] : [],
  )
  const hasEffects = Object.values(counts).some((count) => count > 0)
  return { counts, resources, outputs, hasChanges: hasEffects || outputs.length > 0 }
}

function effectOf(actions: unknown): PlanEffect | undefined {
  switch (Array.isArray(actions) ? actions.join(' ') : '') {
    case 'create':
      return 'create'
    case 'update':
      return 'change'
    case 'delete':
      return 'destroy'
    case 'delete create':
    case 'create delete':
      return 'replace'
    case 'read':
      return 'read'
    case 'forget':
      return 'forget'
    default:
      return undefined
  }
}

function changesOf(change: Readonly<Record<string, unknown>>, effect: PlanEffect): string[] {
  if (effect === 'destroy' || effect === 'forget') return []
  const [before, after] = [Object(change['before']), Object(change['after'])]
  const unknown = Object(change['after_unknown'])
  const isHidden = (name: string): boolean =>
    [change['before_sensitive'], change['after_sensitive']].some((side) => side === true || hasTrue(Object(side)[name]))
  const names = [...new Set([before, after, unknown].flatMap((side) => Object.keys(side)))].sort()
  return names
    .flatMap((name) => {
      const isLater = hasTrue(unknown[name])
      if (!isLater && JSON.stringify(before[name] ?? null) === JSON.stringify(after[name] ?? null)) return []
      if (isHidden(name)) return [`${cut(name)}: (sensitive)`]
      const then = isLater ? '(known after apply)' : textOf(after[name])
      return [`${cut(name)}: ${effect === 'create' ? then : `${textOf(before[name])} → ${then}`}`]
    })
    .slice(0, mostAttributes)
}

const textOf = (value: unknown): string => cut(JSON.stringify(value ?? null))
const cut = (text: string): string => (text.length > longestText ? `${text.slice(0, longestText)}…` : text)

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

/** Returns the lines in which a log shows a plan. */
export function planLines({ counts, resources, outputs, hasChanges }: PlanSummary): string[] {
  if (!hasChanges) return ['The plan changes nothing.']
  const words = (['create', 'change', 'replace', 'destroy'] as const).map((effect) => `${counts[effect]} to ${effect}`)
  const whole = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return [
    `The plan: ${words.join(', ')}.`,
    ...resources.flatMap(({ address, effect, changes }) => [
      `${signs[effect]} ${effect} ${address}`,
      ...changes.map((change) => `    ${change}`),
    ]),
    ...(whole > resources.length ? [`… and ${whole - resources.length} more.`] : []),
    ...(outputs.length > 0 ? [`Outputs that change: ${outputs.join(', ')}.`] : []),
  ]
}
