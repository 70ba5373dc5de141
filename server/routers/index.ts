/**
 * What carries traffic to the applications: our own process, or one in memory for tests. Knows
 * routes, not what they serve.
 */
export { createFakeRouter, type FakeRouter } from './fake/fake-router.ts'
export { createOwnRouter, type OwnRouterOptions } from './own/own-router.ts'
export { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './own/router-process.ts'
export { superviseRouter } from './own/supervise-router.ts'
export type { Activity, Router, Wakes } from './router.ts'
export * from './routers.ts'
