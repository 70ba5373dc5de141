import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { NameServer } from './name-server.ts'

/**
 * Starts a webhook that adds TXT records to a name server and removes them, as an operator's does.
 * Returns its address. It stops when the test ends.
 */
export async function startDnsWebhook(
  t: { after(work: () => unknown): void },
  { zones }: Pick<NameServer, 'zones'>,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const { fqdn, value } = JSON.parse(await text(request))
    const name = String(fqdn).replace(/\.$/, '').toLowerCase()
    const others = (zones.get(name)?.TXT ?? []).filter((one) => one !== value)
    const isAdded = request.url?.endsWith('/present') ?? false
    zones.set(name, { ...zones.get(name), TXT: isAdded ? [...others, String(value)] : others })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const bound = server.address()
  return `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}/dns`
}
