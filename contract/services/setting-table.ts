import { Enum, extension, Integer, List, maxInteger, Nullable, Text, type TSchema, Type } from '../schema.ts'
import type { Capability } from './capabilities.ts'

/** One advanced setting: the schema of its value, its default and its owners. */
export interface AdvancedSetting {
  /** The letters of its owners. `*` means all. */
  readonly on: string
  readonly schema: TSchema
  readonly default: unknown
  /**
   * The capability that a value other than the default needs. Without it, the setting works on
   * every engine.
   */
  readonly needs?: Capability
  /** Values that work without the capability, because they are what the platform does anyway. */
  readonly granted?: readonly unknown[]
}
/**
 * Advanced settings by their dotted keys. Everything else about them is computed from this table.
 */
export type SettingTable = Readonly<Record<string, AdvancedSetting>>
/** JSON values by key. */
export type SettingValues = Readonly<Record<string, unknown>>

/** A whole number. It may be null if its default is. */
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
/** A string. It may be null if its default is. */
export const text = (on: string, initial: string | null): AdvancedSetting => ({
  on,
  default: initial,
  schema: initial === null ? Nullable(Text(4096)) : Text(4096),
})
/** The name of an object of Kubernetes, or nothing. */
export const objectName = (on: string): AdvancedSetting => ({
  on,
  default: '',
  schema: Type.String({ pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?)?$', maxLength: 253 }),
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
/** A list of names of variables. */
export const names = (on: string): AdvancedSetting => ({
  on,
  default: [],
  schema: List(Type.String({ pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$', maxLength: 255 }), 100),
})
/** A setting that requires a capability of the engine. */
export const needs = (needed: Capability, setting: AdvancedSetting, granted?: readonly unknown[]): AdvancedSetting => ({
  ...setting,
  needs: needed,
  ...(granted ? { granted } : {}),
})
/** A setting that the public API does not have. */
export const own = (setting: AdvancedSetting): AdvancedSetting => ({ ...setting, schema: extension(setting.schema) })
/** Strings by name. */
export const map = (on: string): AdvancedSetting => ({
  on,
  default: {},
  schema: Type.Record(Type.String(), Text(4096), { maxProperties: 100 }),
})

/** Returns the settings of one owner. */
export const settingsOf = (table: SettingTable, owner: string): SettingTable =>
  Object.fromEntries(Object.entries(table).filter(([, { on }]) => on === '*' || on.includes(owner)))

/** Returns every key with its default. */
export const settingDefaults = (table: SettingTable): SettingValues =>
  Object.fromEntries(Object.entries(table).map(([key, setting]) => [key, setting.default]))

/**
 * Returns the effective values: the stored ones, including unknown keys, and defaults for the rest.
 */
export const effectiveSettings = (table: SettingTable, stored: SettingValues): SettingValues => ({
  ...settingDefaults(table),
  ...stored,
})

/**
 * The schema of requests, in which every key is optional. Unknown keys are checked against the
 * stored ones.
 */
export function settingsRequest(table: SettingTable) {
  const properties = Object.entries(table).map(([key, { schema }]) => [key, Type.Optional(schema)] as const)
  return Type.Object(Object.fromEntries<TSchema>(properties), { patternProperties: { '': {} } })
}

/** The schema of responses: every key of the table, and stored unknown keys. */
export function settingsReply(table: SettingTable) {
  const properties = Object.entries(table).map(([key, { schema }]) => [key, schema] as const)
  return Type.Object(Object.fromEntries<TSchema>(properties), { additionalProperties: true })
}

const mostBytes = 65_536
/** Returns why the values are rejected, or undefined. */
export function settingsProblem(values: SettingValues): string | undefined {
  const long = Object.keys(values).find((key) => key.length > 255)
  if (long !== undefined) return `${long.slice(0, 255)} must have at most 255 characters`
  return JSON.stringify(values).length > mostBytes ? `The body must have at most ${mostBytes} characters` : undefined
}
