import type { ServiceOutput } from '../variables/index.ts'
import { isObject, type JsonObject } from './json-values.ts'
import type { Mask } from './plan-summary.ts'

export interface StackResource {
  readonly address: string
  readonly resource_type: string
  readonly name: string
  readonly provider: string
  readonly mode: 'managed' | 'data'
  /** Sensitive values are masked. */
  readonly attributes: JsonObject
}
/** A resource as it comes from a worker: many small values would take long to copy. */
export interface PackedResource extends Omit<StackResource, 'attributes'> {
  /** An object of JSON. */
  readonly attributes: string
}

/** The content of a state that other services and the API use. */
export interface StackResult {
  readonly resources: readonly StackResource[]
  readonly outputs: readonly ServiceOutput[]
}

const mostResources = 2000
const deepest = 32
const sensitive = '(sensitive)'

/**
 * Pure: reads a state in the form of `show -json`. A stack without resources has no values. `mask`
 * hides secrets that no schema marks as sensitive. An output that contains one is a secret.
 */
export function readResult(shown: unknown, mask: Mask = (text) => text): StackResult {
  const values = isObject(shown) ? shown['values'] : undefined
  if (!isObject(values)) return { resources: [], outputs: [] }
  return { resources: resourcesOf(values['root_module'], mask), outputs: outputsOf(values['outputs'], mask) }
}

function resourcesOf(root: unknown, mask: Mask): StackResource[] {
  const found: StackResource[] = []
  const open: unknown[] = [root]
  // The list grows while it is read. A program of a user may have written millions of entries.
  for (const next of open) {
    if (!isObject(next)) continue
    const { resources, child_modules } = next
    for (const resource of Array.isArray(resources) ? resources : []) {
      found.push(...resourceOf(resource, mask))
      if (found.length >= mostResources) return found
    }
    for (const child of Array.isArray(child_modules) ? child_modules : []) open.push(child)
  }
  return found
}

function resourceOf(resource: unknown, mask: Mask): StackResource[] {
  if (!isObject(resource)) return []
  const { address, type, name, provider_name, mode, values, sensitive_values } = resource
  const attributes = masked(values, sensitive_values, { mask, depth: 0 })
  return [
    {
      address: label(mask(String(address))),
      resource_type: label(type),
      name: label(name),
      provider: label(provider_name),
      mode: mode === 'data' ? 'data' : 'managed',
      attributes: isObject(attributes) ? attributes : {},
    },
  ]
}

/** A column takes no U+0000 and no half of a character. A label longer than this is no label. */
const stored = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
const longestLabel = 1000
const label = (value: unknown): string => stored(String(value).slice(0, longestLabel))

/** Returns a value without the parts that its mark names. Parts that are too deep are masked. */
function masked(value: unknown, mark: unknown, { mask, depth }: { mask: Mask; depth: number }): unknown {
  if (mark === true || depth > deepest) return sensitive
  const inside = { mask, depth: depth + 1 }
  if (Array.isArray(value)) {
    return value.map((one, index) => masked(one, Array.isArray(mark) ? mark[index] : undefined, inside))
  }
  if (typeof value === 'string') return stored(mask(value))
  if (!isObject(value)) return value
  const marks = isObject(mark) ? mark : {}
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [stored(mask(key)), masked(one, marks[key], inside)]),
  )
}

/** A name of an output may have hyphens, which a name of a variable may not. */
function outputsOf(outputs: unknown, mask: Mask): ServiceOutput[] {
  const found = new Map<string, ServiceOutput>()
  for (const [name, output] of Object.entries(Object(outputs))) {
    if (!isObject(output) || output['value'] === null || output['value'] === undefined) continue
    const { value, sensitive: isMarked } = output
    const key = name.replaceAll('-', '_')
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (!found.has(key)) found.set(key, { key, value: text, isSecret: isMarked === true || mask(text) !== text })
  }
  return [...found.values()]
}
