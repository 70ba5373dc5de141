/**
 * Numbers about the traffic of services: taken from the routers, kept for 30 days at falling
 * resolution, and read for a service or an environment.
 */
export { createAccessLines } from './access-lines.ts'
export { createTrafficCollector, type TrafficCollectorOptions } from './collector.ts'
export { createTrafficKeeper } from './keeper.ts'
export { createTrafficReader, type TrafficReader } from './reader.ts'
