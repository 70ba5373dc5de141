import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly id: string
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** A webhook receiver on this machine. It accepts everything and answers 204. */
export async function startReceiver() {
  const deliveries: Delivery[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { event_type, payload } = Object(JSON.parse(body))
    const { headers } = request
    deliveries.push({ headers, body, id: String(headers['webhook-id']), event: String(event_type), payload })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  return {
    url: `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/hook`,
    deliveries: deliveries as readonly Delivery[],
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
