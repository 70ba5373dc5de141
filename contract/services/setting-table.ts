import { Enum, extension, Integer, List, maxInteger, Nullable, Text, type TSchema, Type } from '../schema.ts'
import type { Capability } from './capabilities.ts'

/** One advanced setting: the schema of its value, what counts while it was never sent, and whose it is. */
export interface AdvancedSetting {
  /** The owners that have it, by their letters; `*`: all. */
  readonly on: string
  readonly schema: TSchema
  readonly default: unknown
  /**
   * The capability that a value other than the default needs to act; absent: the platform does it
   * for every engine.
   */
  readonly needs?: Capability
  /** Values that the platform grants without that, because it never does anything else. */
  readonly granted?: readonly unknown[]
}
/** Advanced settings by their keys, which have dots: everything else about them is computed from such a table. */
export type SettingTable = Readonly<Record<string, AdvancedSetting>>
/** Values by their keys: what survives a round trip through JSON. */
export type SettingValues = Readonly<Record<string, unknown>>

/** A whole number; a default of null: it may be null. */
export const number = (
  on: string,
  initial: number | null,
  minimum = 0,
  maximum: number = maxInteger,
): AdvancedSetting => ({
  on,
  default: initial,
  schema: initial === null ? Nullable(Integer(minimum, maximum)) : Integer(minimum, maximum),
})
export const flag = (on: string, initial: boolean): AdvancedSetting => ({
  on,
  default: initial,
  schema: Type.Boolean(),
})
/** A text; a default of null: it may be null. */
export const text = (on: string, initial: string | null): AdvancedSetting => ({
  on,
  default: initial,
  schema: initial === null ? Nullable(Text(4096)) : Text(4096),
})
export const choice = (on: string, initial: string, values: readonly string[]): AdvancedSetting => ({
  on,
  default: initial,
  schema: Enum(values),
})
export const texts = (on: string, initial: readonly string[]): AdvancedSetting => ({
  on,
  default: initial,
  schema: List(Text(4096), 100),
})
/** Names of variables. */
export const names = (on: string): AdvancedSetting => ({
  on,
  default: [],
  schema: List(Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$', maxLength: 255 }), 100),
})
/** A setting that acts only where the engine can do this. */
export const needs = (needed: Capability, setting: AdvancedSetting, granted?: readonly unknown[]): AdvancedSetting => ({
  ...setting,
  needs: needed,
  ...(granted ? { granted } : {}),
})
/** A setting that the public API does not have. */
export const own = (setting: AdvancedSetting): AdvancedSetting => ({ ...setting, schema: extension(setting.schema) })
/** Texts by names. */
export const map = (on: string): AdvancedSetting => ({
  on,
  default: {},
  schema: Type.Record(Type.String(), Text(4096), { maxProperties: 100 }),
})

/** The settings of one owner. */
export const settingsOf = (table: SettingTable, owner: string): SettingTable =>
  Object.fromEntries(Object.entries(table).filter(([, { on }]) => on === '*' || on.includes(owner)))

/** Every key with its default. */
export const settingDefaults = (table: SettingTable): SettingValues =>
  Object.fromEntries(Object.entries(table).map(([key, setting]) => [key, setting.default]))

/** What counts: the stored values, those that are not known here among them, and defaults for the rest. */
export const effectiveSettings = (table: SettingTable, stored: SettingValues): SettingValues => ({
  ...settingDefaults(table),
  ...stored,
})

/** As sent: keys may be left out. Keys that are not of the table are checked against what is stored. */
export function settingsRequest(table: SettingTable) {
  const properties = Object.entries(table).map(([key, { schema }]) => [key, Type.Optional(schema)] as const)
  return Type.Object(Object.fromEntries<TSchema>(properties), { patternProperties: { '': {} } })
}

/** As answered: every key of the table, and those that were kept. */
export function settingsReply(table: SettingTable) {
  const properties = Object.entries(table).map(([key, { schema }]) => [key, schema] as const)
  return Type.Object(Object.fromEntries<TSchema>(properties), { additionalProperties: true })
}

const mostBytes = 65_536
/** Why values that were sent cannot be kept; undefined where they can. */
export function settingsProblem(values: SettingValues): string | undefined {
  const long = Object.keys(values).find((key) => key.length > 255)
  if (long !== undefined) return `${long.slice(0, 255)} must have at most 255 characters`
  return JSON.stringify(values).length > mostBytes ? `The body must have at most ${mostBytes} characters` : undefined
}
