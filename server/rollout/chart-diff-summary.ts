import type { ChartChangeName } from '@quayside/contract/services/chart-records.ts'
import { type ChangedField, type ChartChange, maskedField } from '../engines/index.ts'

/** The changes of a chart's objects without secrets, as the database and the API keep them. */
export type DiffSummary = {
  readonly counts: { readonly create: number; readonly change: number; readonly delete: number }
  readonly has_changes: boolean
  readonly objects: readonly DiffObject[]
}
export type DiffObject = {
  readonly api_version: string
  readonly kind: string
  readonly name: string
  readonly namespace: string | null
  readonly change: ChartChangeName
  readonly fields: readonly DiffField[]
  readonly omitted_fields: number
}
/** A changed member. Its values are JSON. Null: absent or hidden. */
export type DiffField = {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  readonly is_hidden: boolean
}

/** Objects that a summary lists. The counts include all. */
const mostObjects = 500
const longestText = 120
const longestName = 253
/** Characters of all fields. The objects beyond are listed without theirs. */
const mostText = 500_000
/** Characters that are shown before those that differ. */
const before = 30

/** Pure: summarizes the changes of a chart. `mask` hides the secrets of the service. */
export function summarizeDiff(changes: readonly ChartChange[], mask: (text: string) => string): DiffSummary {
  const countOf = (wanted: ChartChangeName) => changes.filter(({ change }) => change === wanted).length
  const counts = { create: countOf('CREATE'), change: countOf('CHANGE'), delete: countOf('DELETE') }
  let left = mostText
  const objects = changes.slice(0, mostObjects).map((change): DiffObject => {
    const fields = left > 0 ? change.fields.map((field) => toField(field, mask)) : []
    left -= JSON.stringify(fields).length
    const name = (text: string): string => cut(mask(text), longestName)
    return {
      api_version: name(change.apiVersion),
      kind: name(change.kind),
      name: name(change.name),
      namespace: change.namespace === undefined ? null : name(change.namespace),
      change: change.change,
      fields,
      omitted_fields: change.omitted + change.fields.length - fields.length,
    }
  })
  return { counts, has_changes: changes.length > 0, objects }
}

/** A text that is cut first could end in a part of a secret. */
function toField(field: ChangedField, mask: (text: string) => string): DiffField {
  const { path, before: was, after: is, isHidden } = maskedField(field, mask)
  return { path: cut(mask(path), longestName), ...shownParts(was, is), is_hidden: isHidden }
}

/** Returns the parts of two texts that differ: long ones may have the same beginning. */
function shownParts(was: string | undefined, is: string | undefined) {
  if (was === undefined || is === undefined) return { before: shown(was), after: shown(is) }
  const isLong = Math.max(was.length, is.length) > longestText
  const from = isLong ? Math.max(0, commonLength(was, is) - before) : 0
  return { before: shown(was, from), after: shown(is, from) }
}

function commonLength(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

const shown = (text: string | undefined, from = 0): string | null =>
  text === undefined ? null : `${from > 0 ? '…' : ''}${cut(text.slice(from), longestText)}`
const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)
