import type { Each } from '../lib/roster.ts'
import type { Observer } from './observer.ts'

/** Acts on a service through the observer that watches it. */
export type ServiceObserver = Pick<Observer, 'endRepair' | 'look'>

/** The observers of all engines together. */
export type JoinedObserver = Pick<Observer, 'endRepair' | 'look' | 'renew'>

/**
 * Returns one observer for the services of all current engines. Each of the given ones ignores
 * services of other engines.
 */
export const joinObservers = (observers: Each<JoinedObserver>): JoinedObserver => ({
  endRepair: async (service) => void (await Promise.all(observers.all.map((one) => one.endRepair(service)))),
  look: async (service, signal) => void (await Promise.all(observers.all.map((one) => one.look(service, signal)))),
  renew: () => {
    for (const one of observers.all) one.renew()
  },
})
