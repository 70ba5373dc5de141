import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'

/** Average use, in per cent of a replica's limits, at which the number of replicas is right. */
export interface Targets {
  readonly cpuPercent: number
  readonly memoryPercent?: number
}

const usualPercent = 60

/** Returns the targets that the advanced settings of a kind name. */
export function targetsOf(kind: string, advanced: SettingValues): Targets {
  const values = effectiveSettings(settingsOfKind(kind), advanced)
  const cpu = values['hpa.cpu.average_utilization_percent']
  const memory = values['hpa.memory.average_utilization_percent']
  return {
    cpuPercent: typeof cpu === 'number' && cpu > 0 ? cpu : usualPercent,
    ...(typeof memory === 'number' && memory > 0 ? { memoryPercent: memory } : {}),
  }
}
