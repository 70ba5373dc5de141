import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { type PlatformDoor, platformService, type Route } from '@quayside/contract/routes.ts'

/** Where the API, the console and the git host answer. */
export interface PlatformPlace {
  /** Their name at the router of the platform. Undefined: the router does not lead to them. */
  readonly platformHost: string | undefined
  /** The address on which the server listens. */
  readonly host: string
  readonly port: number
}

/** Pure: returns the routes to the platform itself. They belong to no service. */
export function platformRoutes({ platformHost, host, port }: PlatformPlace): readonly Route[] {
  if (platformHost === undefined) return []
  const endpoints = [{ address: localAddress(host), port }]
  return [
    {
      host: platformHost,
      service: platformService,
      name: 'Quayside',
      endpoints,
      tls: { from: 'platform', redirects: true },
    },
  ]
}

/**
 * Pure: returns how the server recognizes its router. The secret follows from the pepper, so all
 * servers and all routers of an installation have the same. Undefined without routes to the server.
 */
export const platformDoor = ({ platformHost }: PlatformPlace, pepper: Buffer): PlatformDoor | undefined =>
  platformHost === undefined
    ? undefined
    : {
        service: platformService,
        secret: createHmac('sha256', pepper).update('the door of the router').digest('base64url'),
      }

/** Pure: returns the address at which programs of this machine reach a server. */
export const localAddress = (host: string): string =>
  isIP(host) === 0 || host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
