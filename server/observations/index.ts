/** What really runs: seen, written down, and brought back where it drifted from what should run. */
export { decideRepair, liveEndpoints, type Repair } from './decide.ts'
export { insertObservation, isWished } from './observation-store.ts'
export { createObserver, type Observer, type ObserverOptions } from './observer.ts'
