import type { EnginePlace } from '../engines/index.ts'
import { createSlots, type Slots } from '../lib/slots.ts'

/**
 * Creates slots for deployments: each engine has its own. Clusters without one of these engines
 * share theirs.
 */
export function createDeploymentSlots(
  engines: readonly { readonly name: string }[],
  count: number,
): (place: EnginePlace) => Slots {
  const create = () => createSlots(count, { reserve: count })
  const slotsOfNone = create()
  const slotsOf = new Map<string | null, Slots>(engines.map(({ name }) => [name, create()]))
  return ({ engine }) => slotsOf.get(engine) ?? slotsOfNone
}
