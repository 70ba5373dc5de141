import { randomInt } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect, createServer, type ListenOptions, type Server as NetServer } from 'node:net'
import type { RouterConfig } from './config.ts'
import { limits } from './limits.ts'
import { codeOf } from './log.ts'
import type { PodConfig } from './pod-config.ts'

/**
 * Rejects if another program has the port, even one that would share it: two installations must not
 * answer for each other.
 */
export async function requireFree({ host, port }: Pick<RouterConfig, 'host' | 'port'>): Promise<void> {
  const probe = createServer()
  await listen(probe, { host, port })
  await new Promise((resolve) => probe.close(resolve))
}

export const listen = (server: NetServer, where: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })

/**
 * Listens so that a router that takes over can do so too before this one ends. Returns the port.
 */
export async function open(server: NetServer, { host, port }: Pick<RouterConfig, 'host' | 'port'>): Promise<number> {
  await listen(server, { host, port, reusePort: true, backlog: limits.waitingConnections })
  const bound = server.address()
  return typeof bound === 'object' && bound ? bound.port : port
}

/**
 * Listens on the control socket. Replaces the file of a dead process. Throws if another router
 * answers.
 */
export async function listenControl(server: Server, path: string): Promise<void> {
  if (await answers(path)) throw new Error(`another router already listens on ${path}`)
  await listenPrivate(server, path)
}

/** Listens on a unix socket that only the own user may open. Replaces the file. */
export async function listenPrivate(server: NetServer, path: string): Promise<void> {
  await rm(path, { force: true })
  const mask = process.umask(0o177)
  try {
    await listen(server, { path, backlog: limits.waitingConnections })
  } finally {
    process.umask(mask)
  }
  await chmod(path, 0o600)
}

/** Linux takes ports of outgoing connections from 32768 on by default. */
const belowOutgoing = { first: 16_384, last: 32_767 }
const mostTries = 100

/**
 * Returns a port on which nothing listens, for a program that listens later. An outgoing connection
 * could take one that the system selects until then. `except` is a port that has been selected
 * already. Throws if it finds none.
 */
export async function freePort(host: string, except?: number, { first, last } = belowOutgoing): Promise<number> {
  for (let tries = 0; tries < mostTries; tries++) {
    const port = randomInt(first, last + 1)
    if (port !== except && (await isFree(host, port))) return port
  }
  throw new Error(
    `no free port of ${host} was found between ${first} and ${last}: end a program that listens there, or name a port`,
  )
}

async function isFree(host: string, port: number): Promise<boolean> {
  try {
    await requireFree({ host, port })
    return true
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false
    throw error
  }
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

/**
 * Listens for the control plane at the loopback address, which nothing outside of the pod reaches,
 * and for the probes of the cluster.
 */
export async function listenInPod(
  control: Server,
  ready: Server,
  { host, controlPort, readyPort }: PodConfig & { readonly host: string },
): Promise<void> {
  control.keepAliveTimeout = limits.controlIdleMs
  await listen(control, { host: '127.0.0.1', port: controlPort })
  await listen(ready, { host, port: readyPort })
}
