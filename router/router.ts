import { chmod, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect, createServer, type ListenOptions, type Server as NetServer } from 'node:net'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { networkList } from '@quayside/contract/forwarded.ts'
import { after, monotonic } from './clock.ts'
import { closeListener } from './close-listener.ts'
import type { RouterConfig } from './config.ts'
import { createControlServer } from './control-server.ts'
import { limits } from './limits.ts'
import type { Log } from './log.ts'
import { migrateConnections } from './migrate-connections.ts'
import { Passwords } from './passwords.ts'
import { Ports } from './ports.ts'
import { Routes } from './routes.ts'
import { loadTable, saveTable } from './state-file.ts'
import { newCounts, type Traffic } from './traffic.ts'
import { createTrafficServer } from './traffic-server.ts'
import { Waiting } from './waiting.ts'

/** Increased when the control plane must replace a running process of an older version. */
const protocol = 8

export interface RunningRouter {
  /** The port that clients use. */
  readonly port: number
  /** Settles once the router has ended, after `stop` or a shutdown over the control socket. */
  readonly ended: Promise<void>
  /**
   * Stops accepting connections, lets open requests finish for at most 30 s, then closes
   * everything. Later calls return the same promise.
   */
  stop(graceMs?: number): Promise<void>
}

/**
 * Starts with the last stored table. Rejects with the system's error if it cannot use the port or
 * socket.
 */
export async function startRouter(config: RouterConfig, log: Log): Promise<RunningRouter> {
  const startedAt = monotonic()
  const routes = new Routes()
  routes.apply(await loadTable(config.state, log))
  const waiting = new Waiting(routes)
  const trusts = networkList(config.trusted)
  const tunnels: Traffic['tunnels'] = new Set()
  const passwords = new Passwords()
  const traffic: Traffic = {
    routes,
    waiting,
    passwords,
    counts: newCounts(),
    log,
    port: '',
    trusts,
    connections: config.connections ?? usualConnections,
    tunnels,
    closing: false,
  }
  const server = createTrafficServer(traffic)
  const ports = new Ports(traffic, config.host)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let stopping: Promise<void> | undefined
  const stop = (graceMs: number = limits.shutdownMs): Promise<void> => {
    stopping ??= end(traffic, { server, ports, control }, graceMs).then(resolve)
    return stopping
  }
  const control = createControlServer({
    routes,
    waiting,
    ports,
    log,
    save: (table) => saveTable(config.state, table),
    health: () => ({
      pid: process.pid,
      version: routes.table.version,
      routes: routes.table.routes.length,
      host: config.host,
      port: Number(traffic.port),
      trusted: config.trusted,
      connections: traffic.connections,
      protocol,
      closing: traffic.closing,
      uptimeSeconds: Math.round((monotonic() - startedAt) / 1000),
      held: waiting.size,
      counts: traffic.counts,
    }),
    shutdown: () => {
      stop().catch(() => {})
    },
  })
  if (!config.share) await requireFree(config)
  await migrateConnections()
  // A router that takes over can then listen before this one ends.
  await listen(server, { host: config.host, port: config.port, reusePort: true })
  const bound = server.address()
  const port = typeof bound === 'object' && bound ? bound.port : config.port
  traffic.port = String(port)
  await ports.look()
  try {
    await listenControl(control, config.control)
  } catch (error) {
    server.close()
    ports.close().catch(() => {})
    throw error
  }
  return { port, ended, stop }
}

async function end(
  traffic: Traffic,
  { server, ports, control }: { readonly server: Server; readonly ports: Ports; readonly control: Server },
  graceMs: number,
): Promise<void> {
  traffic.closing = true
  traffic.waiting.close()
  // Closed first: the router that takes over uses the same path.
  const silenced = new Promise<void>((resolve) => {
    control.close(() => resolve())
    control.closeAllConnections()
  })
  const closed = Promise.all([closeListener(server), ports.close()])
  const cancel = after(graceMs, () => {
    for (const tunnel of traffic.tunnels) tunnel.destroy()
    server.closeAllConnections()
  })
  server.closeIdleConnections()
  await closed
  cancel()
  for (const tunnel of traffic.tunnels) tunnel.destroy()
  traffic.routes.close()
  await silenced
}

/**
 * Rejects if another program has the port, even one that would share it: two installations must not
 * answer for each other.
 */
async function requireFree({ host, port }: RouterConfig): Promise<void> {
  const probe = createServer()
  await listen(probe, { host, port })
  await new Promise((resolve) => probe.close(resolve))
}

const listen = (server: NetServer, where: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })

/**
 * Listens on the control socket. Replaces the file of a dead process. Throws if another router
 * answers.
 */
async function listenControl(server: Server, path: string): Promise<void> {
  if (await answers(path)) throw new Error(`another router already listens on ${path}`)
  await rm(path, { force: true })
  const mask = process.umask(0o177)
  try {
    await listen(server, { path })
  } finally {
    process.umask(mask)
  }
  await chmod(path, 0o600)
}

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
