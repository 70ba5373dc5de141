import type { RouterConfig } from './config.ts'
import type { Behind } from './front/behind.ts'
import { open, requireFree } from './listen.ts'
import type { MarkedMaterial } from './tls-material.ts'
import { createTlsServer } from './tls-server.ts'
import type { Traffic } from './traffic.ts'
import type { Front } from './traffic-server.ts'

/** HTTPS of a router: its server, if it has one, and the certificates. */
export interface SecureFront {
  /** Undefined if the router speaks HTTP only. */
  readonly front: Front | undefined
  /** The mark of the current certificates. Undefined before the first ones. */
  readonly mark: string | undefined
  /** Listens, unless the router must have certificates first. Rejects if the port is in use. */
  start(): Promise<void>
  /** Applies certificates. Returns once the router listens. */
  apply(material: MarkedMaterial): Promise<void>
}

/**
 * Creates HTTPS of a router. One that takes over from another shares its port only once it has
 * certificates: until then it would refuse handshakes that the other one completes.
 */
export function createSecureFront(traffic: Traffic, config: RouterConfig, behind?: Behind): SecureFront {
  if (behind) return behindHaproxy(traffic, behind)
  const { host, tlsPort, share = false } = config
  const front = tlsPort === undefined ? undefined : createTlsServer(traffic)
  const setPort = (port: number): void => {
    traffic.listens.tlsPort = port
    traffic.tlsPort = String(config.publicTlsPort ?? port)
  }
  if (share && tlsPort) setPort(tlsPort)
  let opened: Promise<void> | undefined
  const listen = async (): Promise<void> => {
    if (!front || tlsPort === undefined) return
    setPort(await open(front.server, { host, port: tlsPort }))
  }
  return {
    front,
    get mark() {
      return traffic.certificates.mark
    },
    start: async () => {
      if (share || tlsPort === undefined) return
      await requireFree({ host, port: tlsPort })
      opened = listen()
      await opened
    },
    apply: (material) => {
      traffic.certificates.replace(material)
      if (material.ticketKey !== undefined) front?.server.setTicketKeys(Buffer.from(material.ticketKey, 'base64'))
      opened ??= listen()
      return opened
    },
  }
}

/**
 * HAProxy completes the handshakes, or the stand-in. The router keeps the certificates for both.
 */
const behindHaproxy = (traffic: Traffic, { front, standIn, takeOver }: Behind): SecureFront => ({
  front: undefined,
  get mark() {
    return traffic.certificates.mark
  },
  start: async () => {},
  apply: async (material) => {
    traffic.certificates.replace(material)
    if (material.ticketKey !== undefined) standIn.setTicketKey(material.ticketKey)
    await takeOver()
    await front.followCertificates()
  },
})
