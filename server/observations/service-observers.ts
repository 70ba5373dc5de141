import type { Each } from '../lib/roster.ts'
import type { Observer } from './observer.ts'

/** Acts on a service through the observer that watches it. */
export type ServiceObserver = Pick<Observer, 'endRepair' | 'look'>

/**
 * Returns one observer for the services of all current engines. Each of the given ones ignores
 * services of other engines.
 */
export const joinObservers = (observers: Each<ServiceObserver>): ServiceObserver => ({
  endRepair: async (service) => void (await Promise.all(observers.all.map((one) => one.endRepair(service)))),
  look: async (service, signal) => void (await Promise.all(observers.all.map((one) => one.look(service, signal)))),
})
