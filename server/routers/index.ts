/**
 * Routers, which carry traffic to the applications: a separate process, or one in memory for tests.
 * They know routes but not the applications behind them.
 */
export { createFakeRouter, type FakeRouter } from './fake/fake-router.ts'
export { createOwnRouter, type OwnRouterOptions } from './own/own-router.ts'
export { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './own/router-process.ts'
export { superviseRouter } from './own/supervise-router.ts'
export type { Activity, Router, Wakes } from './router.ts'
export * from './routers.ts'
