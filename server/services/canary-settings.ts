import { isDeepStrictEqual } from 'node:util'
import { readCanarySteps } from '@quayside/contract/services/canary-steps.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'

const stepsKey = 'deployment.canary.steps'
const strategyKey = 'deployment.update_strategy.type'

/**
 * Returns why the canary steps in these advanced settings cannot be followed. Undefined if they
 * can. Values already stored are accepted.
 */
export function canaryProblem(values: SettingValues, stored: SettingValues): string | undefined {
  const steps = values[stepsKey]
  const isStored = [stepsKey, strategyKey].every((key) => isDeepStrictEqual(values[key], stored[key]))
  if (typeof steps !== 'string' || isStored) return undefined
  try {
    if (readCanarySteps(steps).length === 0 || values[strategyKey] !== 'Recreate') return undefined
  } catch (error) {
    return `${stepsKey}: ${error instanceof Error ? error.message : 'it cannot be read'}.`
  }
  return (
    `${stepsKey}: two versions share the requests, but ${strategyKey} is Recreate, which ends the previous ` +
    'version first. Change one of the two.'
  )
}
