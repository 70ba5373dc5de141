import { connect, type TLSSocket } from 'node:tls'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { secureClient } from '../../support/https.ts'
import { addresses } from '../cluster/settings.ts'

/** Requests over HTTPS to the routers of the test cluster, one after the other. */
export interface SecureTraffic {
  /** Waits until this many more requests were sent. */
  sends(count: number): Promise<void>
  /** Ends it. `lost` has answers other than 200, and errors. */
  stop(): Promise<{ readonly sent: number; readonly lost: readonly string[] }>
}

/** Sends requests to a name over several clients, each of which keeps one connection at a time. */
export function startSecureTraffic(port: number, root: string, name: string, clients = 4): SecureTraffic {
  const lost: string[] = []
  let sent = 0
  let isOver = false
  const work = Array.from({ length: clients }, async () => {
    const client = secureClient({ port, root })
    while (!isOver) {
      const answer = await client.ask(name, { host: addresses.node, timeout: 20_000 }).catch((error: unknown) => error)
      sent++
      const { status } = Object(answer)
      if (status !== 200) lost.push(status === undefined ? String(answer) : `${status} ${Object(answer).body}`)
      await clock.sleep(10, AbortSignal.timeout(1_000))
    }
    client.close()
  })
  return {
    sends: async (count) => {
      const end = sent + count
      while (sent < end) await clock.sleep(20, AbortSignal.timeout(1_000))
    },
    stop: async () => {
      isOver = true
      await Promise.all(work)
      return { sent, lost }
    },
  }
}

/** Returns the serial number of the certificate that an address shows for a name. */
export function serialAt(host: string, port: number, root: string, name: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket: TLSSocket = connect({ host, port, servername: name, ca: root, ALPNProtocols: ['http/1.1'] })
  socket.once('secureConnect', () => {
    resolve(socket.getPeerCertificate().serialNumber)
    socket.destroy()
  })
  socket.once('error', reject)
  socket.setTimeout(10_000, () => socket.destroy(new Error('no handshake within 10 s')))
  return promise
}
