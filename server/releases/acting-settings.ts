import { isDeepStrictEqual } from 'node:util'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { BuildLimits } from '../builders/index.ts'
import type { LongRunning } from '../engines/index.ts'

const usualGraceSeconds = 10

/** How long a replica may take to end: the advanced setting of its kind, where that has one. */
export function stopGraceSeconds(kind: string, stored: SettingValues): number {
  const value = effectiveSettings(settingsOfKind(kind), stored)['deployment.termination_grace_period_seconds']
  return typeof value === 'number' ? value : usualGraceSeconds
}

const key = {
  readOnlyRoot: 'security.read_only_root_filesystem',
  postStart: 'deployment.lifecycle.post_start_exec_command',
  preStop: 'deployment.lifecycle.pre_stop_exec_command',
} as const

/**
 * Returns the program's other advanced settings. The default pre-stop command is not run: it waits
 * for a load balancer to forget the replica, and the router has already done that when a replica
 * ends.
 */
export function programSettings(
  kind: string,
  stored: SettingValues,
): Pick<LongRunning, 'hasReadOnlyRoot' | 'postStart' | 'preStop'> {
  const table = settingsOfKind(kind)
  const changed = (name: string): unknown =>
    name in table && !isDeepStrictEqual(stored[name], table[name]?.default) ? stored[name] : undefined
  const [postStart, preStop] = [commandOf(changed(key.postStart)), commandOf(changed(key.preStop))]
  return {
    ...(changed(key.readOnlyRoot) === true ? { hasReadOnlyRoot: true } : {}),
    ...(postStart ? { postStart } : {}),
    ...(preStop ? { preStop } : {}),
  }
}

function commandOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const words = value.filter((word) => typeof word === 'string')
  return words.length > 0 ? words : undefined
}

/** Whether each step of a build runs again, whatever the builder remembers. */
export const isBuiltWithoutCache = (stored: SettingValues): boolean => stored['build.disable_buildkit_cache'] === true

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
