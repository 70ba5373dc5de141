import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { after, monotonic, sleep } from '../clock.ts'
import type { RouterConfig } from '../config.ts'
import { freePort, listenPrivate, requireFree } from '../listen.ts'
import type { ServiceCounts } from '../service-counts.ts'
import type { Traffic } from '../traffic.ts'
import { acceptProxied } from './accept-proxied.ts'
import { Front } from './front.ts'
import { frontFiles } from './front-files.ts'
import { HotTable } from './hot-table.ts'
import { http3Secret, whyNot } from './http3.ts'
import { ownSocket } from './own-socket.ts'
import { retireOthers } from './retire-others.ts'
import { ServicesByEndpoint } from './services-by-endpoint.ts'
import { StandIn } from './stand-in.ts'
import { findHaproxy } from './start-haproxy.ts'
import { TimeLines } from './time-lines.ts'
import { servedHosts } from './tls-store.ts'
import { usableCpus } from './usable-cpus.ts'

/** A router behind HAProxy. */
export interface Behind {
  readonly front: Front
  /** Why HAProxy serves no HTTP/3. Undefined if it does. */
  readonly whyNoHttp3: string | undefined
  /** Listens for the requests that HAProxy does not carry, and begins to serve clients. */
  start(): Promise<void>
  /**
   * Takes the place of another router in front of which the same HAProxy runs. Later calls do
   * nothing.
   */
  takeOver(): Promise<void>
  /**
   * Adds what HAProxy carried to the numbers about services. The last time, the router that has
   * HAProxy next continues from there.
   */
  count(counts: ServiceCounts, isLast?: boolean): Promise<void>
  /** The servers with which the router itself serves clients while HAProxy does not. */
  readonly standIn: Pick<StandIn, 'fronts' | 'setTicketKey'>
  /**
   * Ends HAProxy, unless another router has taken over, and the stand-in. Settles once both have
   * ended.
   */
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
  const { host, haproxy: program, trusted, proxies = [] } = config
  const files = frontFiles(config.control)
  const port = config.port || (await freePort(host))
  const tlsPort = config.tlsPort === 0 ? await freePort(host, port) : config.tlsPort
  const { publicPort, publicTlsPort } = config
  const cpus = await usableCpus()
  await mkdir(files.folder, { recursive: true, mode: 0o700 })
  const isWanted = config.http3 === true
  const whyNoHttp3 = await whyNot({ isWanted, program, host, tlsPort, proxies: [...trusted, ...proxies] })
  const http3 = whyNoHttp3 === undefined ? await http3Secret(files.http3) : undefined
  Object.assign(traffic.listens, { port, ...(tlsPort !== undefined && { tlsPort }) })
  traffic.port = String(publicPort ?? port)
  traffic.tlsPort = tlsPort === undefined ? '' : String(publicTlsPort ?? tlsPort)
  const { routes, certificates, connections, log } = traffic
  log.info(http3 === undefined ? 'HAProxy serves no HTTP/3' : 'HAProxy serves HTTP/3', { reason: whyNoHttp3 })
  const own = ownSocket(files)
  const standIn = new StandIn({ traffic, host, port, tlsPort, proxies })
  const services = new ServicesByEndpoint(routes)
  const table = new HotTable((route, endpoints) => services.note(route, endpoints))
  const front = new Front({
    program,
    log,
    standIn,
    isMine: own.isMine,
    isListed: (key) => services.isListed(key),
    keysOf: (endpoint) => services.keysOf(endpoint),
    isAsked: () => certificates.isAsked,
    certificates: () => (certificates.first ? undefined : certificates.served),
    settings: { host, port, tlsPort, publicPort, publicTlsPort, files, connections, trusted, proxies, http3, cpus },
    hosts: () =>
      table.hosts(routes.table.routes, {
        port: traffic.port,
        tlsPort: traffic.tlsPort,
        endpointsOf: (route) => routes.endpointsOf(route),
        hasCertificate: (name) => certificates.at(name) !== undefined,
      }),
  })
  const times = new TimeLines(files.admin, (line) => {
    const service = front.isLeft ? undefined : services.at(line.endpoint)
    if (service === undefined) return
    const { wholeMs, weight } = line
    if ('status' in line) traffic.services.recordOwn(service, line.status, wholeMs, weight)
    else traffic.services.recordTimes(service, line.firstByteMs, wholeMs, weight)
  })
  let taken: Promise<void> | undefined
  const take = async (): Promise<void> => {
    const left = await findHaproxy(files)
    if (left && tlsPort !== undefined) certificates.assume(await servedHosts(files))
    await own.take()
    await retireOthers(files, left?.pid)
    if (!left && !config.share) for (const one of [port, tlsPort]) if (one) await requireFree({ host, port: one })
    await front.start()
    times.start()
    await front.follow()
  }
  const takeOver = (): Promise<void> => {
    taken ??= take()
    return taken
  }
  const endFront = async (graceMs: number): Promise<void> => {
    times.stop()
    if (taken === undefined || !(await own.isMine())) return front.leave()
    front.stop()
    const cancel = after(graceMs, () => front.kill())
    for (const end = monotonic() + graceMs + endMs; monotonic() < end; await sleep(lookMs)) {
      if (await front.hasEnded()) break
    }
    cancel()
  }
  return {
    front,
    whyNoHttp3,
    standIn,
    takeOver,
    count: async (counts, isLast = false) => {
      for (const [key, carried] of await (isLast ? front.counts.lastCarried() : front.counts.carried())) {
        const service = services.at(key)
        if (service !== undefined) counts.recordCarried(service, carried)
      }
    },
    start: async () => {
      acceptProxied(server)
      await listenPrivate(server, own.path)
      if (!config.share || tlsPort === undefined) await takeOver()
    },
    end: async (graceMs) => {
      await Promise.all([endFront(graceMs), standIn.end()])
    },
  }
}

const lookMs = 20
/** A killed process is gone within this time. */
const endMs = 5_000
