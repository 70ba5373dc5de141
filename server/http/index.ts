/**
 * The door: authenticates, authorises, validates and serialises every operation of the contract,
 * and keeps replies for idempotency keys. The rules of the domain are in the other rooms.
 */
export { createBudgets } from './budgets.ts'
export { createHandlers, type Rooms } from './handlers/index.ts'
export { createReplyPruner } from './kept-replies.ts'
export { leave } from './leave.ts'
export { createRateLimiter } from './rate-limit.ts'
export { createServer, readManifestVersion } from './server.ts'
export { createOpenStreams, type OpenStreams } from './streams/open-streams.ts'
export { targetQuery } from './target-query.ts'
