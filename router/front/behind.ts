import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { after, monotonic, sleep } from '../clock.ts'
import type { RouterConfig } from '../config.ts'
import { freePort, listenPrivate, requireFree } from '../listen.ts'
import type { ServiceCounts } from '../service-counts.ts'
import type { Traffic } from '../traffic.ts'
import { acceptProxied } from './accept-proxied.ts'
import { Front, ownSocket } from './front.ts'
import { frontFiles } from './front-files.ts'
import { hotMaps } from './hot-routes.ts'
import { findHaproxy } from './start-haproxy.ts'

/** A router behind HAProxy. */
export interface Behind {
  readonly front: Front
  /** Listens for the requests that HAProxy does not carry, and begins to serve clients. */
  start(): Promise<void>
  /**
   * Takes the place of another router in front of which the same HAProxy runs. Later calls do
   * nothing.
   */
  takeOver(): Promise<void>
  /** Adds what HAProxy carried to the numbers about services. */
  count(counts: ServiceCounts): Promise<void>
  /** Ends HAProxy, unless another router has taken over. Settles once it has ended. */
  end(graceMs: number): Promise<void>
}

/**
 * Puts HAProxy in front of a router's server. The server gets every connection through it. A router
 * that takes over from another one does so only with `takeOver`, once it has its certificates.
 */
export async function createBehind(
  traffic: Traffic,
  server: Server,
  config: RouterConfig & { readonly haproxy: string },
): Promise<Behind> {
  const { host, haproxy: program, trusted } = config
  const files = frontFiles(config.control)
  const port = config.port || (await freePort(host))
  const tlsPort = config.tlsPort === 0 ? await freePort(host) : config.tlsPort
  traffic.port = String(port)
  traffic.tlsPort = tlsPort === undefined ? '' : String(tlsPort)
  const { routes, certificates, connections, log } = traffic
  const context = {
    port: traffic.port,
    tlsPort: traffic.tlsPort,
    hasCertificate: (name: string) => certificates.at(name) !== undefined,
  }
  const own = ownSocket(files)
  const services = new Map<string, string>()
  const front = new Front({
    program,
    log,
    isMine: own.isMine,
    certificates: () => certificates.all,
    settings: { host, port, tlsPort, files, connections, trusted },
    maps: () => {
      const endpointsOf = (route: Route): readonly RouteEndpoint[] => routes.endpointsOf(route)
      noteServices(services, routes.table.routes, endpointsOf)
      return hotMaps(routes.table.routes, endpointsOf, { ...context, door: certificates.door?.service })
    },
  })
  let taken: Promise<void> | undefined
  const take = async (): Promise<void> => {
    await own.take()
    await front.start()
    await front.follow()
  }
  const takeOver = (): Promise<void> => {
    taken ??= take()
    return taken
  }
  return {
    front,
    takeOver,
    count: async (counts) => {
      for (const [label, carried] of await front.carried()) {
        const service = services.get(label)
        if (service !== undefined) counts.recordCarried(service, carried)
      }
    },
    start: async () => {
      await mkdir(files.folder, { recursive: true, mode: 0o700 })
      acceptProxied(server)
      await listenPrivate(server, own.path)
      const adopts = config.share || (await findHaproxy(files)) !== undefined
      if (!adopts) for (const one of [port, tlsPort]) if (one !== undefined) await requireFree({ host, port: one })
      if (!config.share || tlsPort === undefined) await takeOver()
    },
    end: async (graceMs) => {
      if (taken === undefined || !(await own.isMine())) return front.leave()
      front.stop()
      const cancel = after(graceMs, () => front.kill())
      for (const end = monotonic() + graceMs + endMs; monotonic() < end; await sleep(lookMs)) {
        if (await front.hasEnded()) break
      }
      cancel()
    },
  }
}

/** The most endpoints whose services are remembered after they have left the table. */
const mostServices = 50_000

function noteServices(
  services: Map<string, string>,
  routes: readonly Route[],
  endpointsOf: (route: Route) => readonly RouteEndpoint[],
): void {
  if (services.size > mostServices) services.clear()
  for (const route of routes) {
    for (const { address, port } of endpointsOf(route)) services.set(`${address}:${port}`, route.service)
  }
}

const lookMs = 20
/** A killed process is gone within this time. */
const endMs = 5_000
