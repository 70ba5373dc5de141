/**
 * Decides and stores how many replicas of a service should run: more under load, none without
 * requests. Observers apply it.
 */
export type { Announcer } from './announcer.ts'
export { type Instances, mayScale, mostReplicas, rangeOf, wantedReplicas } from './replicas.ts'
export { createScaler, type ScalerOptions } from './scaler.ts'
export { awaken, endWaking, findLeaving, findScale, forgetScale, setLeaving } from './scaling-store.ts'
export { createSleeper, type SleeperOptions } from './sleeper.ts'
export { type Targets, targetsOf } from './targets.ts'
export { createWaker, type WakerOptions } from './waker.ts'
