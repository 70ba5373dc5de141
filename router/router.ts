import type { Server } from 'node:http'
import { Shares, usualConnections } from '@quayside/contract/connection-shares.ts'
import { networkList } from '@quayside/contract/forwarded.ts'
import { acceptHttp2 } from './accept-http2.ts'
import { AccessLines } from './access-lines.ts'
import { readProxyHeaders } from './behind-proxies.ts'
import { Certificates } from './certificates.ts'
import { after, monotonic } from './clock.ts'
import { closeListener } from './close-listener.ts'
import { Compressors } from './compressors.ts'
import type { RouterConfig } from './config.ts'
import { hasKey } from './control-key.ts'
import { createControlServer } from './control-server.ts'
import { Following } from './following.ts'
import { type Behind, createBehind } from './front/behind.ts'
import { KeptCounts } from './kept-counts.ts'
import { KeptLines } from './kept-lines.ts'
import { limits } from './limits.ts'
import { listenControl, listenInPod, open, requireFree } from './listen.ts'
import { describe, type Log } from './log.ts'
import { migrateConnections } from './migrate-connections.ts'
import { Passwords } from './passwords.ts'
import { Ports } from './ports.ts'
import { Presence } from './presence.ts'
import { createReadyServer, Readiness } from './readiness.ts'
import { RequestLimits } from './request-limits.ts'
import { Routes } from './routes.ts'
import { createSecureFront } from './secure-front.ts'
import { ServiceCounts } from './service-counts.ts'
import { SignInTokens } from './sign-in-tokens.ts'
import { startFromCluster } from './start-from-cluster.ts'
import { StateFile } from './state-file.ts'
import { newCounts, type Traffic } from './traffic.ts'
import { createTrafficServer, type Front } from './traffic-server.ts'
import { Visits } from './visits.ts'
import { Waiting } from './waiting.ts'

/** Increased when the control plane must replace a running process of an older version. */
const protocol = 25

export interface RunningRouter {
  /** The port on which the router listens. */
  readonly port: number
  /** The same for HTTPS, if the router speaks it. */
  readonly tlsPort?: number
  /** Settles once the router has ended, after `stop` or a shutdown over the control socket. */
  readonly ended: Promise<void>
  /**
   * Stops accepting connections, lets open requests finish for at most 30 s, then closes
   * everything. Later calls return the same promise.
   */
  stop(graceMs?: number): Promise<void>
  /**
   * Stops after the time in which new connections still arrive at a pod that was asked to end, and
   * after sleeping services that requests wait for. Outside of a pod it stops at once.
   */
  leave(): Promise<void>
}

/**
 * Starts with the last stored table. Rejects with the system's error if it cannot use the port or
 * socket.
 */
export async function startRouter(config: RouterConfig, log: Log): Promise<RunningRouter> {
  const startedAt = monotonic()
  const { pod } = config
  const routes = new Routes()
  const state = new StateFile(config.state, log)
  routes.apply(await state.load())
  const waiting = new Waiting(routes)
  const trusts = networkList(config.trusted)
  const tunnels: Traffic['tunnels'] = new Set()
  const passwords = new Passwords()
  const visits = new Visits(routes)
  const certificates = new Certificates(log)
  const readiness = new Readiness({
    hasStored: () => routes.table.version > 0,
    lacksCertificates: () =>
      config.tlsPort !== undefined &&
      certificates.mark === undefined &&
      routes.table.routes.some(({ tls }) => tls?.from === 'platform'),
  })
  const services = new ServiceCounts()
  const kept = new KeptCounts(services, { state: config.state, log })
  const traffic: Traffic = {
    routes,
    waiting,
    passwords,
    tokens: new SignInTokens(),
    visits,
    requestLimits: new RequestLimits(limits.countedClients),
    certificates,
    compressors: new Compressors(),
    counts: newCounts(),
    services,
    lines: new AccessLines(),
    log,
    port: '',
    tlsPort: '',
    listens: { port: 0 },
    trusts,
    isProxy: networkList([...config.trusted, ...(config.proxies ?? [])]),
    connections: config.connections ?? usualConnections,
    doorShares: new Shares(),
    tunnels,
    leaving: false,
    closing: false,
  }
  const keptLines = new KeptLines(traffic.lines, { state: config.state, log })
  const { haproxy, publicPort, publicTlsPort } = config
  const publicPorts = {
    ...(publicPort !== undefined && { publicPort }),
    ...(publicTlsPort !== undefined && { publicTlsPort }),
  }
  const isBehind = pod !== undefined || haproxy !== undefined
  const plain = isBehind ? acceptHttp2(traffic, createTrafficServer(traffic)) : createTrafficServer(traffic)
  const behind = haproxy === undefined ? undefined : await createBehind(traffic, plain.server, { ...config, haproxy })
  const tls = createSecureFront(traffic, config, behind)
  const fronts = tls.front ? [plain, tls.front] : [plain]
  const { proxies = [] } = config
  // HAProxy reads them itself.
  if (proxies.length > 0 && !behind) for (const front of fronts) readProxyHeaders(front, traffic, proxies)
  const ports = new Ports(traffic, config.host)
  const isConfirmed = (): boolean => readiness.isConfirmed
  const changed = (): void => {
    waiting.look()
    visits.look()
  }
  const endTrying = pod && (await startFromCluster({ pod, routes, certificates, isConfirmed, changed, log }))
  const ready = createReadyServer(readiness)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let stopping: Promise<void> | undefined
  const countLast = async (): Promise<void> => {
    await behind?.count(services, true).catch((error: unknown) => {
      log.warn('the last requests at HAProxy are not counted', { error: describe(error) })
    })
  }
  const stop = (graceMs: number = limits.shutdownMs): Promise<void> => {
    following.stop()
    endTrying?.()
    kept.stop()
    // The control socket closes after that: its next router continues from there.
    stopping ??= countLast()
      .then(() => end(traffic, { fronts, behind, ports, control, ready, isPod: pod !== undefined }, graceMs))
      .then(() => {
        kept.end()
        keptLines.end()
      })
      .then(resolve)
    return stopping
  }
  const leave = async (): Promise<void> => {
    if (!pod) return stop()
    traffic.leaving = true
    await elapsed(pod.leaveMs)
    const last = monotonic() + limits.leavingHeldMs
    while (waiting.size > 0 && monotonic() < last) await elapsed(100)
    await stop()
  }
  const control = createControlServer({
    routes,
    waiting,
    visits,
    ports,
    tls,
    front: behind?.front,
    log,
    save: (table, changes) => state.save(table, changes),
    health: () => ({
      pid: process.pid,
      version: routes.table.version,
      routes: routes.table.routes.length,
      host: config.host,
      ...traffic.listens,
      ...publicPorts,
      ...(behind && { haproxy, haproxyPid: behind.front.pid, haproxyFailure: behind.front.failure }),
      ...(behind && { http3: config.http3 === true, whyNoHttp3: behind.whyNoHttp3 }),
      trusted: config.trusted,
      proxies,
      connections: traffic.connections,
      protocol,
      closing: traffic.closing,
      uptimeSeconds: Math.round((monotonic() - startedAt) / 1000),
      held: waiting.size,
      counts: traffic.counts,
    }),
    lines: keptLines,
    traffic: async (stored) => {
      await behind?.count(services)
      return kept.take(stored)
    },
    shutdown: () => {
      stop().catch(() => {})
    },
    confirm: () => {
      readiness.confirm()
      following.reset()
    },
    ...(pod && { mayAsk: (request) => hasKey(request, pod.keyFile) }),
  })
  const following = new Following({ routes, presence: new Presence(control, limits.silentControlMs), log })
  await migrateConnections()
  if (behind) await behind.start()
  else {
    traffic.listens.port = await openAlone(plain.server, config)
    traffic.port = String(config.publicPort ?? traffic.listens.port)
  }
  await tls.start()
  await ports.look()
  try {
    if (pod) await listenInPod(control, ready, { ...pod, host: config.host })
    else await listenControl(control, config.control)
  } catch (error) {
    for (const { server } of [...fronts, ...(behind?.standIn.fronts ?? [])]) server.close()
    behind?.front.kill()
    ports.close().catch(() => {})
    throw error
  }
  if (pod) following.start()
  kept.start()
  return { ...traffic.listens, ended, stop, leave }
}

/** Listens at the port of clients. Returns it. */
async function openAlone(server: Server, config: RouterConfig): Promise<number> {
  if (!config.share) await requireFree(config)
  return open(server, config)
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => void after(ms, resolve))

interface Parts {
  readonly fronts: readonly Front[]
  readonly behind: Behind | undefined
  readonly ports: Ports
  readonly control: Server
  readonly ready: Server
  readonly isPod: boolean
}

async function end(traffic: Traffic, parts: Parts, graceMs: number): Promise<void> {
  const { fronts, behind, ports, control, ready, isPod } = parts
  traffic.leaving = true
  traffic.closing = true
  traffic.waiting.close()
  const silence = (): Promise<void> =>
    new Promise((resolve) => {
      control.close(() => resolve())
      control.closeAllConnections()
    })
  // On one machine the router that takes over uses the same path. In a pod, the control plane still
  // asks for open requests.
  const silenced = isPod ? undefined : silence()
  // HAProxy ends first: its open requests may still need this router.
  const alone = behind?.end(graceMs) ?? Promise.resolve()
  const closed = alone.then(() => Promise.all([...fronts.map(({ server }) => closeListener(server)), ports.close()]))
  const serving = (): readonly Front[] => [...fronts, ...(behind?.standIn.fronts ?? [])]
  const cancel = after(graceMs, () => {
    for (const tunnel of traffic.tunnels) tunnel.destroy()
    for (const { server, connections } of serving()) {
      server.closeAllConnections()
      connections.closeAll()
    }
  })
  for (const front of serving()) {
    front.server.closeIdleConnections()
    front.leave?.()
  }
  const cancelSilent = after(limits.firstByteMs, () => {
    for (const { connections } of serving()) connections.closeSilent()
  })
  await closed
  cancelSilent()
  cancel()
  for (const tunnel of traffic.tunnels) tunnel.destroy()
  traffic.routes.close()
  await (silenced ?? silence())
  ready.close()
  ready.closeAllConnections()
}
