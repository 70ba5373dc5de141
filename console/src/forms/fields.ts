import type { Suggestion } from '../api/suggestions.ts'
import type { Draft, Json } from './draft.ts'

interface About {
  /** The place of the value in the body, such as `git_repository.branch`. */
  readonly path: string
  readonly label: string
  readonly hint?: string
}

export interface Option {
  readonly value: string
  readonly label: string
  /** Members of the body that change with this choice. */
  readonly also?: Draft
}

/** One of several shapes of a value, such as the kinds of a probe. */
export interface Shape {
  readonly label: string
  /** A path that only this shape has. Empty for the shape without a value. */
  readonly mark: string
  /** The value if somebody chooses the shape. */
  readonly fresh: Draft | null
  readonly fields: readonly FieldSpec[]
}

/**
 * A field of a form. The form is a table of them, and the API checks the values.
 *
 * - `text`, `long` and `password`: an empty text is sent as null, unless the field is required or
 *   keeps it.
 * - `select`: an empty value is sent as null.
 * - `number`: a text that is not a number is sent as it is, so that the API names the fault.
 * - `words`: a list of texts, one a line.
 * - `list`: a list of objects, with the fields of each. `fresh` is a new one.
 * - `shape`: an object with one of several shapes.
 * - `choices`: a list of options, or of objects with their ids.
 */
export type FieldSpec = TextSpec | ListSpec | ShapeSpec | SelectSpec | ChoicesSpec | OtherSpec

/**
 * Returns the values for a field. `beside` reads a field of the same object. It is empty without a
 * text.
 */
export type Suggest = (beside: (name: string) => string) => Suggestion | undefined

export interface TextSpec extends About {
  readonly type: 'text' | 'long' | 'password'
  readonly isRequired?: boolean
  /** Whether an empty text is sent as it is. */
  readonly keepsEmpty?: boolean
  readonly placeholder?: string
  /** Usual values, which the browser offers while somebody types. */
  readonly suggestions?: readonly string[]
  /** Further values, which are asked for when somebody enters the field. */
  readonly suggest?: Suggest
}
export interface ListSpec extends About {
  readonly type: 'list'
  readonly noun: string
  readonly fields: readonly FieldSpec[]
  readonly fresh: Draft | readonly Json[]
}
export interface ShapeSpec extends About {
  readonly type: 'shape'
  readonly shapes: readonly Shape[]
}
export interface SelectSpec extends About {
  readonly type: 'select'
  readonly options: readonly Option[]
}
export interface ChoicesSpec extends About {
  readonly type: 'choices'
  readonly options: readonly Option[]
  /** The text without any option. */
  readonly none?: string
  /** Whether the list has objects with an `id`. */
  readonly areReferences?: boolean
}
interface OtherSpec extends About {
  readonly type: 'number' | 'check' | 'words'
}

/** Pure: options whose values are also their labels. */
export const optionsOf = (...values: readonly string[]): readonly Option[] =>
  values.map((value) => ({ value, label: value }))

/**
 * Pure: the path of the field with which a message of the API begins, such as `ports.0.name` for
 * "ports[0].name must be a string.".
 */
export function fieldIn(message: string): string | undefined {
  const [name] = /^[a-z_]+(?:\.[a-z_]+|\[\d+\])*(?=:? )/.exec(message) ?? []
  return name?.replace(/\[(\d+)\]/g, '.$1')
}

/** Pure: whether a form shows a field at this path. */
export const hasField = (fields: readonly FieldSpec[], path: string): boolean =>
  fields.some((field) => {
    if (field.path === path) return true
    if (!path.startsWith(`${field.path}.`)) return false
    const rest = path.slice(field.path.length + 1)
    if (field.type === 'list') return hasField(field.fields, rest.replace(/^\d+\./, ''))
    return field.type === 'shape' && field.shapes.some((shape) => hasField(shape.fields, rest))
  })

/** Pure: the labels of the fields at, above or below these paths. A hidden one is its path. */
export const labelsOf = (fields: readonly FieldSpec[], paths: readonly string[]): readonly string[] => [
  ...new Set(
    paths.map((at) => {
      const field = fields.find(({ path }) => path === at || path.startsWith(`${at}.`) || at.startsWith(`${path}.`))
      return field?.label ?? at
    }),
  ),
]
