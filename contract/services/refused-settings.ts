import { Value } from '@sinclair/typebox/value'
import { type Abilities, capabilities } from './capabilities.ts'
import type { AdvancedSetting, SettingTable, SettingValues } from './setting-table.ts'
import { type Shape, shapes } from './shapes.ts'

/** The place where settings act. */
export interface SettingPlace {
  /** Every setting of the owner, by key. */
  readonly table: SettingTable
  /** The capabilities of the cluster's engine. Undefined if the cluster has none. */
  readonly able: Abilities | undefined
  /** The shape that the engine must run for any setting of the owner to act. */
  readonly shape?: Shape
  /** The operation that lists the settings: `GET /defaultJobAdvancedSettings`. */
  readonly listed: string
}

const noEngine = 'no engine of this installation runs anything on its cluster'

/** Returns why a value other than the default has no effect. Undefined if it has one. */
export function whyIdle(setting: AdvancedSetting, value: unknown, place: SettingPlace): string | undefined {
  if (setting.granted?.some((granted) => Value.Equal(granted, value))) return undefined
  const { able, shape } = place
  if (!able) return noEngine
  if (shape !== undefined && !able.shapes.has(shape)) return shapes[shape].missing
  return setting.needs === undefined || able.settings.has(setting.needs) ? undefined : capabilities[setting.needs]
}

/**
 * Returns a sentence for each setting that is rejected. A default or already stored value is always
 * accepted, so that clients can send back what they read.
 */
export function refusedSettings(sent: SettingValues, stored: SettingValues, place: SettingPlace): string[] {
  return Object.entries(sent).flatMap(([key, value]) => {
    if (Object.hasOwn(stored, key) && Value.Equal(stored[key], value)) return []
    const setting = Object.hasOwn(place.table, key) ? place.table[key] : undefined
    if (!setting) return [`${shortened(key)} is not an advanced setting here. ${place.listed} lists them.`]
    if (Value.Equal(setting.default, value)) return []
    const reason = whyIdle(setting, value, place)
    if (reason === undefined) return []
    const usual = shortened(JSON.stringify(setting.default))
    return [
      `${key} cannot be ${shortened(JSON.stringify(value))}: ${reason}. Leave it out, or send its default ${usual}.`,
    ]
  })
}

/** Returns the stored settings that have no effect in this place. */
export const idleSettings = (stored: SettingValues, place: SettingPlace): string[] =>
  Object.keys(stored).filter((key) => {
    const setting = Object.hasOwn(place.table, key) ? place.table[key] : undefined
    if (!setting) return true
    return !Value.Equal(setting.default, stored[key]) && whyIdle(setting, stored[key], place) !== undefined
  })

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)
