/** The door: authenticates, authorises, validates and serialises every operation of the contract; knows no rule of a room. */
export { createBudgets } from './budgets.ts'
export { createHandlers, type Rooms } from './handlers/index.ts'
export type { MountOptions } from './mount.ts'
export { createRateLimiter } from './rate-limit.ts'
export { createServer, readVersion, type ServerOptions } from './server.ts'
export { createOpenStreams, type OpenStreams } from './streams/open-streams.ts'
export { targetQuery } from './target-query.ts'
