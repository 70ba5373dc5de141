/** Where services answer: host names, the table of routes, and how it gets to the router. */
export { publicHosts } from './host-names.ts'
export { listLinks, type PublicAddress, urlOf } from './links.ts'
export { createRoutePublisher, type RoutePublisher } from './publisher.ts'
export { leadsTo, listServiceRoutes, type RouteRow, replaceHosts, setEndpoints } from './route-store.ts'
