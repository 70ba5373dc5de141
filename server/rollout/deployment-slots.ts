import type { EnginePlace } from '../engines/index.ts'
import { createSlots, type Slots } from '../lib/slots.ts'

/**
 * Creates slots for deployments: each engine has its own. Clusters without an engine share theirs.
 */
export function createDeploymentSlots(count: number): (place: EnginePlace) => Slots {
  const slotsOf = new Map<string | null, Slots>()
  return ({ engine }) => {
    const slots = slotsOf.get(engine) ?? createSlots(count, { reserve: count })
    slotsOf.set(engine, slots)
    return slots
  }
}
