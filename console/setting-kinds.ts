import { advancedSettings } from '@quayside/contract/services/advanced-settings.ts'
import { clusterSettings } from '@quayside/contract/services/cluster-settings.ts'

/** The form of the value of an advanced setting. */
export interface SettingKind {
  readonly type: 'integer' | 'string' | 'boolean' | 'array' | 'object'
  readonly isNullable: boolean
  /** The values of a string that has only a few. */
  readonly choices?: readonly string[]
}

/** The forms of all advanced settings by key, from their schemas. */
export function settingKinds(): Readonly<Record<string, SettingKind>> {
  const all = Object.entries({ ...advancedSettings, ...clusterSettings })
  return Object.fromEntries(all.map(([key, { schema }]) => [key, kindOf(schema)]))
}

function kindOf(schema: Readonly<Record<string, unknown>>): SettingKind {
  const types = [schema['type']].flat()
  const type = (['integer', 'string', 'boolean', 'array', 'object'] as const).find((one) => types.includes(one))
  if (!type) throw new Error(`a setting has no form: ${JSON.stringify(schema)}`)
  const isNullable = types.includes('null')
  const { enum: choices } = schema
  return Array.isArray(choices) ? { type, isNullable, choices: choices.map(String) } : { type, isNullable }
}
