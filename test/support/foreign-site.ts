import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A web site of somebody else on this machine. Browsers treat it as another site. */
export interface ForeignSite {
  readonly origin: string
  /** Changes the page that it sends at every address. */
  show(body: string): void
  close(): void
}

export async function openForeignSite(): Promise<ForeignSite> {
  let page = ''
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Foreign</title><body>${page}`)
  })
  // The console is at "localhost", which is another site than this address.
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    show: (body) => {
      page = body
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
