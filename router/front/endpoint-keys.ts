import { hash } from 'node:crypto'
import type { RouteEndpoint } from '@quayside/contract/routes.ts'

const tagLength = 8

/** The length of the longest key. */
export const longestKey = '255.255.255.255:65535:'.length + tagLength

/**
 * Returns the key by which HAProxy counts the requests of a service to an endpoint. It begins with
 * `address:port:`. An address may belong to another service seconds later, whose counts are its
 * own. The key is the same in every router, because HAProxy outlives them.
 */
export const endpointKey = ({ address, port }: RouteEndpoint, service: string): string =>
  `${address}:${port}:${hash('sha256', service, 'base64url').slice(0, tagLength)}`

/** Returns the key without its service: `address:port`. */
export const labelIn = (key: string): string => key.slice(0, key.lastIndexOf(':'))
