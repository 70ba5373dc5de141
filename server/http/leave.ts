import type { Server } from 'node:http'
import type { Clock } from '../lib/clock.ts'

/**
 * Answers requests for some seconds more, so that balancers learn of the end of this server. Each
 * connection ends after its next response, and clients connect to another server.
 */
export async function leave(
  server: Server,
  { seconds, clock }: { readonly seconds: number; readonly clock: Clock },
): Promise<void> {
  if (seconds === 0) return
  server.prependListener('request', (_request, response) => void response.setHeader('connection', 'close'))
  await clock.sleep(seconds * 1000)
}
