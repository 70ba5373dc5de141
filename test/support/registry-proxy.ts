import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Returns true if it has answered the request itself. Otherwise the registry answers. */
type Misbehaviour = (asked: IncomingMessage, answer: ServerResponse) => boolean

/** A proxy for a real registry. It records requests and can answer in the registry's place. */
export interface RegistryProxy {
  /** `127.0.0.1:<port>`. */
  readonly host: string
  /** Method and path of each request, in order. */
  readonly asked: string[]
  misbehave: Misbehaviour
  close(): Promise<void>
}

export async function startRegistryProxy(registry: { readonly host: string }): Promise<RegistryProxy> {
  const [hostname, port] = registry.host.split(':')
  const asked: string[] = []
  const server = createServer((from, to) => {
    asked.push(`${from.method} ${from.url}`)
    if (proxy.misbehave(from, to)) return
    const { method, url: path, headers } = from
    const onwards = request({ hostname, port, method, path, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    onwards.on('error', () => to.destroy())
    from.on('error', () => onwards.destroy())
    from.pipe(onwards)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: RegistryProxy = {
    // A server that listens on a port has an address with a port.
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    misbehave: () => false,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
