import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { BuildLimits } from '../builders/index.ts'

const usualGraceSeconds = 10

/** How long a replica may take to end: the advanced setting of its kind, where that has one. */
export function stopGraceSeconds(kind: string, stored: SettingValues): number {
  const value = effectiveSettings(settingsOfKind(kind), stored)['deployment.termination_grace_period_seconds']
  return typeof value === 'number' ? value : usualGraceSeconds
}

/** Whether the former version ends before the next one starts, because two must not run at once. */
export const isRecreated = (kind: string, stored: SettingValues): boolean =>
  effectiveSettings(settingsOfKind(kind), stored)['deployment.update_strategy.type'] === 'Recreate'

/** What a build may use: as its advanced settings wish, and never more than the platform allows. */
export function buildLimitsOf(platform: BuildLimits, stored: SettingValues): BuildLimits {
  const least = (limit: number, key: string, factor = 1): number => {
    const wish = stored[key]
    return typeof wish === 'number' && wish > 0 ? Math.min(limit, wish * factor) : limit
  }
  return {
    ...platform,
    cpuMilli: least(platform.cpuMilli, 'build.cpu_max_in_milli'),
    memoryMiB: least(platform.memoryMiB, 'build.ram_max_in_gib', 1024),
    timeoutSeconds: least(platform.timeoutSeconds, 'build.timeout_max_sec'),
  }
}
