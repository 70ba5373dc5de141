/** The addresses of services: host names, the route table, and its way to the router. */
export { credentialsOf } from './basic-auth.ts'
export { promoteService, readCanary } from './canaries.ts'
export {
  type CanaryCounts,
  type CanaryOutcomes,
  type CanaryRow,
  deleteCanary,
  findCanary,
  putCanary,
  setCanaryCounts,
  setCanaryEndpoints,
} from './canary-store.ts'
export { checkLogins } from './check-logins.ts'
export { createCustomDomains } from './custom-domains.ts'
export { createHostDeclarer } from './declare-hosts.ts'
export { listEnvironmentLinks } from './environment-links.ts'
export { publicHosts } from './host-names.ts'
export { addressOf, listLinks, type PublicAddress, portAddress, publicAddressOf, urlOf } from './links.ts'
export { reservePassedPorts } from './passed-ports.ts'
export { localAddress, type PlatformPlace, platformDoor, platformRoutes } from './platform-route.ts'
export { createProofReconciler } from './proof-reconciler.ts'
export { releasePublicPort } from './public-port-store.ts'
export { type PublicPortRange, publicPortAddress, publicPortHost, reservePublicPort } from './public-ports.ts'
export {
  createRoutePublisher,
  createRoutePublishers,
  type RoutePublisher,
  type RoutePublishers,
  routeTrouble,
  type UnreachedPort,
  unreachedText,
} from './publisher.ts'
export { createNameServers } from './resolve.ts'
export { createRouteMarks, type RouteMarks } from './route-marks.ts'
export { rulesProblem, usualRules } from './route-rules.ts'
export {
  leadsElsewhere,
  leadsTo,
  listServiceRoutes,
  type RouteRow,
  replaceHosts,
  setEndpoints,
  touchRoutes,
} from './route-store.ts'
export { readServiceMarks } from './route-table-store.ts'
export { type SecuredPlace, securedHosts, uploadedHosts } from './secured-host-store.ts'
export { createServeHost, type ServeHost } from './serve-host.ts'
export { createSettingCheck } from './setting-check.ts'
export { createSignInPlaces, type SignInPlace, type SignInPlaces } from './sign-in-places.ts'
export type { SignInIssuer } from './sign-in-rule.ts'
