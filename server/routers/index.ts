/**
 * Routers, which carry traffic to the applications: a separate process, the same
 * program in pods of a cluster, the ingress controller of a cluster, or one in
 * memory for tests.
 * They know routes but not the applications behind them.
 */
export { createAbsentRouter } from './absent-router.ts'
export { type ClusterRouterOptions, createClusterRouter } from './cluster-router.ts'
export { createFakeRouter, type FakeRouter } from './fake/fake-router.ts'
export type { Pods } from './ingress/ingress-objects.ts'
export { controllerLagMs } from './ingress/ingress-router.ts'
export { type Controller, controllerOf, type UnsupportedRule, unsupportedRules } from './ingress/rule-mapping.ts'
export { createOwnRouter, type OwnRouterOptions } from './own/own-router.ts'
export { ensureRouterProcess, type RouterProcess, type RouterProcessOptions } from './own/router-process.ts'
export { routerSupervisor, superviseRouter } from './own/supervise-router.ts'
export type { PodRouterSettings, RouterExposure } from './pods/router-objects.ts'
export type { Activity, HostAndPort, PortAddress, RouteCertificate, Router, RouterFinding, Wakes } from './router.ts'
export * from './routers.ts'
export { RoutesRefusedError } from './routes-refused.ts'
export type { Sharing, TlsSource } from './tls-source.ts'
