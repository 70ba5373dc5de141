import { isDeepStrictEqual } from 'node:util'
import { deployedSettings, placeOfKind, settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import type { Abilities } from '@quayside/contract/services/capabilities.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { refusedSettings } from '@quayside/contract/services/refused-settings.ts'
import { effectiveSettings, type SettingValues, settingsProblem } from '@quayside/contract/services/setting-table.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { canaryProblem } from './canary-settings.ts'
import {
  findAdvancedSettings,
  lockAdvancedSettings,
  raiseConfigVersion,
  storeAdvancedSettings,
} from './config-store.ts'

/** The service that owns advanced settings or another part. */
export interface PartOwner {
  readonly id: string
  readonly kind: KindName
}

export interface AdvancedSettingsOptions {
  readonly database: Database
  readonly clock: Clock
  /** Returns the capabilities of an engine; undefined for a cluster without an engine. */
  readonly ableOf: (engine: string | null) => Abilities | undefined
  /** Returns why a router cannot act on these values. Ignores values that are already stored. */
  readonly problemOf: (sent: SettingValues, stored: SettingValues) => string | undefined
  /** Returns the same for values that depend on other objects, such as roles and host names. */
  readonly problemIn?: (sql: Sql, serviceId: string, change: SettingChange) => Promise<string | undefined>
}

/** Settings before and after a change. */
export interface SettingChange {
  readonly sent: SettingValues
  readonly stored: SettingValues
}

const sticky = 'network.ingress.enable_sticky_session'

/**
 * Creates the operations for advanced settings of services, including sticky sessions, which have
 * operations of their own.
 */
export function createAdvancedSettings({ database, clock, ableOf, problemOf, problemIn }: AdvancedSettingsOptions) {
  const get = async (service: PartOwner): Promise<SettingValues> => {
    const stored = await findAdvancedSettings(database, service.id)
    if (!stored) throw notFound('service', service.id)
    return effectiveSettings(settingsOfKind(service.kind), stored)
  }
  const change = (service: PartOwner, next: (stored: SettingValues) => SettingValues): Promise<SettingValues> =>
    inTransaction(database, async (sql) => {
      const found = await lockAdvancedSettings(sql, service.id)
      if (!found) throw notFound('service', service.id)
      const { advanced_settings: stored, engine } = found
      const values = next(stored)
      const refused = refusedSettings(values, stored, placeOfKind(service.kind, ableOf(engine)))
      if (refused.length > 0) throw new AppError('invalid', refused.join(' '))
      const problem =
        canaryProblem(values, stored) ??
        problemOf(values, stored) ??
        (await problemIn?.(sql, service.id, { sent: values, stored }))
      if (problem !== undefined) throw new AppError('invalid', problem)
      const table = settingsOfKind(service.kind)
      const [before, after] = [effectiveSettings(table, stored), effectiveSettings(table, values)]
      await storeAdvancedSettings(sql, service.id, values, clock.now())
      if (!isDeepStrictEqual(deployedSettings(before), deployedSettings(after)))
        await raiseConfigVersion(sql, service.id)
      return after
    })

  return {
    get,

    /**
     * Replaces all advanced settings. Returns the settings now in effect. Throws 400 for a value
     * that has no effect on the service's cluster, unless it is the default or already stored.
     */
    async replace(service: PartOwner, values: SettingValues): Promise<SettingValues> {
      const problem = settingsProblem(values)
      if (problem) throw new AppError('invalid', `${problem}.`)
      return change(service, () => values)
    },

    async network(service: PartOwner) {
      return { sticky_session: (await get(service))[sticky] === true }
    },

    async editNetwork(service: PartOwner, { sticky_session }: { sticky_session: boolean }) {
      await change(service, (stored) => ({ ...stored, [sticky]: sticky_session }))
      return { sticky_session }
    },
  }
}
