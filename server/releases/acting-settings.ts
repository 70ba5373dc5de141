import { isDeepStrictEqual } from 'node:util'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { BuildLimits } from '../builders/index.ts'
import type { LongRunning } from '../engines/index.ts'

const usualGraceSeconds = 10

/** Returns the grace period of a replica: the advanced setting of its kind, or the default. */
export function stopGraceSeconds(kind: string, stored: SettingValues): number {
  const value = effectiveSettings(settingsOfKind(kind), stored)['deployment.termination_grace_period_seconds']
  return typeof value === 'number' ? value : usualGraceSeconds
}

const key = {
  readOnlyRoot: 'security.read_only_root_filesystem',
  postStart: 'deployment.lifecycle.post_start_exec_command',
  preStop: 'deployment.lifecycle.pre_stop_exec_command',
  nodes: 'deployment.affinity.node.required',
  ownNodes: 'deployment.antiaffinity.pod',
  zones: 'deployment.topology_spread.zone',
} as const

/** How replicas spread over zones, by the value of the setting. */
const zonesOf: ReadonlyMap<unknown, LongRunning['zones']> = new Map([
  ['ScheduleAnyway', 'preferred'],
  ['DoNotSchedule', 'required'],
])

/**
 * Returns the other advanced settings of the program. The default pre-stop command is not run: it
 * waits for a load balancer to remove the replica, and the router has already done that.
 */
export function programSettings(
  kind: string,
  stored: SettingValues,
): Pick<LongRunning, 'hasReadOnlyRoot' | 'postStart' | 'preStop' | 'nodeLabels' | 'needsOwnNodes' | 'zones'> {
  const table = settingsOfKind(kind)
  const changed = (name: string): unknown =>
    name in table && !isDeepStrictEqual(stored[name], table[name]?.default) ? stored[name] : undefined
  const [postStart, preStop] = [commandOf(changed(key.postStart)), commandOf(changed(key.preStop))]
  return {
    ...(changed(key.readOnlyRoot) === true ? { hasReadOnlyRoot: true } : {}),
    ...(postStart ? { postStart } : {}),
    ...(preStop ? { preStop } : {}),
    ...placementOf(changed),
  }
}

/** Returns the settings that choose nodes. `changed` returns a value other than the default. */
function placementOf(changed: (name: string) => unknown) {
  const nodes = Object.entries(Object(changed(key.nodes))).filter(([, value]) => typeof value === 'string')
  const zones = zonesOf.get(changed(key.zones))
  return {
    // Every value left is a string.
    ...(nodes.length > 0 ? { nodeLabels: Object.fromEntries(nodes) as Record<string, string> } : {}),
    // The API spells it so.
    ...(changed(key.ownNodes) === 'Requirred' ? { needsOwnNodes: true } : {}),
    ...(zones ? { zones } : {}),
  }
}

function commandOf(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined
  const words = value.filter((word) => typeof word === 'string')
  return words.length > 0 ? words : undefined
}

/** Whether every step of a build runs again, without the builder's cache. */
export const isBuiltWithoutCache = (stored: SettingValues): boolean => stored['build.disable_buildkit_cache'] === true

/** Whether the previous version stops before the next one starts, so two never run at once. */
export const isRecreated = (kind: string, stored: SettingValues): boolean =>
  effectiveSettings(settingsOfKind(kind), stored)['deployment.update_strategy.type'] === 'Recreate'

/** Returns the limits of a build: its advanced settings, capped by those of the platform. */
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
