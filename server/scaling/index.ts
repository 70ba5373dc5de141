/**
 * How many replicas of a service should run: more under load, none while nobody asks. Decides and
 * writes it down; observers carry it out.
 */
export type { Announcer } from './announcer.ts'
export { type Instances, mostReplicas, rangeOf, wantedReplicas } from './replicas.ts'
export { createScaler, type ScalerOptions } from './scaler.ts'
export { awaken, endWaking, findLeaving, findScale, forgetScale, setLeaving } from './scaling-store.ts'
export { createSleeper, type SleeperOptions } from './sleeper.ts'
export { createWaker, type WakerOptions } from './waker.ts'
