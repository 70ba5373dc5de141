import known from 'quayside:settings'
import type { SettingKind } from '../../setting-kinds.ts'
import { type Draft, isSame, type Json } from './draft.ts'
import { type FieldSpec, optionsOf } from './fields.ts'

// Advanced settings as the fields of a form. Their keys have dots, and paths of a draft too.

/** Pure: the key of a setting as the path of a draft. */
export const pathOf = (key: string): string => key.replaceAll('.', '/')

/** Pure: the keys of settings at paths of a draft. */
export const keysAt = (paths: readonly string[]): readonly string[] => paths.map((path) => path.replaceAll('/', '.'))

/** Pure: the control of a setting. */
export function fieldOf(key: string): FieldSpec {
  const about = { path: pathOf(key), label: key }
  const kind = known[key]
  if (kind?.choices) return { ...about, type: 'select', options: optionsOf(...kind.choices) }
  switch (kind?.type) {
    case 'integer':
      return { ...about, type: 'number' }
    case 'boolean':
      return { ...about, type: 'check' }
    case 'array':
      return { ...about, type: 'words' }
    case 'object':
      return { ...about, type: 'words', hint: 'name=value, one a line.' }
    default:
      return { ...about, type: 'text', keepsEmpty: kind?.isNullable !== true }
  }
}

/** Pure: the value of a setting as its control has it. A map is a list of lines. */
export function shownValue(key: string, value: Json): Json {
  if (known[key]?.type !== 'object' || typeof value !== 'object' || value === null) return value
  return Object.entries(value).map(([name, text]) => `${name}=${text}`)
}

/** Pure: the values of a form, by path. */
export const draftOf = (values: Draft): Draft =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [pathOf(key), shownValue(key, value)]))

/** Pure: the settings of a form that differ from their defaults. All others return to them. */
export function changedSettings(draft: Draft, defaults: Draft): Draft {
  const entries = Object.entries(draft).map(([path, value]) => {
    const key = path.replaceAll('/', '.')
    return [key, sentValue(known[key], value)] as const
  })
  return Object.fromEntries(entries.filter(([key, value]) => !isSame(value, defaults[key])))
}

function sentValue(kind: SettingKind | undefined, value: Json): Json {
  if (value === '' && kind?.isNullable) return null
  // A select sends null for its empty choice.
  if (value === null && kind?.choices?.includes('')) return ''
  if (!Array.isArray(value)) return value
  const lines = value.map(String).filter((line) => line.trim() !== '')
  if (kind?.type !== 'object') return lines
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]))
}

/** Pure: the key with which a message of the API begins. */
export const keyIn = (message: string, keys: readonly string[]): string | undefined =>
  keys.find((key) => message.startsWith(`${key} `) || message.startsWith(`${key}:`) || message.startsWith(`${key}.`))
