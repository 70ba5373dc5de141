/** What really runs: seen, written down, and brought back where it drifted from what should run. */
export { decideRepair, judge, liveEndpoints, type Repair, type Wish } from './decide.ts'
export { insertObservation, isWished, type WishRow } from './observation-store.ts'
export { createObserver, type Observer } from './observer.ts'
export type { ObserverOptions } from './observer-options.ts'
