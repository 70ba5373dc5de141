/**
 * The door: authenticates, authorises, validates and serialises every operation of the contract,
 * and keeps replies for idempotency keys. It has no rule of a room.
 */
export { createBudgets } from './budgets.ts'
export { createHandlers, type Rooms } from './handlers/index.ts'
export { createReplyPruner } from './kept-replies.ts'
export { createRateLimiter } from './rate-limit.ts'
export { createServer, readManifestVersion } from './server.ts'
export { createOpenStreams, type OpenStreams } from './streams/open-streams.ts'
export { targetQuery } from './target-query.ts'
