import { connect } from 'node:net'
import type { ServerProcess } from './server-process.ts'

/** Returns whether a port of this machine accepts connections. */
export async function connects(port: number, host = '127.0.0.1'): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ port, host, timeout: 3000 })
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  socket.once('timeout', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** Returns the address of a service's container in the network of its environment. */
export async function containerAddress(server: ServerProcess, serviceId: string): Promise<string> {
  const [container] = await server.engine.containersWith(`quayside.service=${serviceId}`)
  const info = Object(await server.engine.ask('GET', `/containers/${container?.Id}/json`))
  const [network] = Object.values(Object(Object(info.NetworkSettings).Networks))
  return String(Object(network).IPAddress)
}
