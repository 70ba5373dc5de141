import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { selfSigned } from './self-signed.ts'

/** A cookie that a host sets for all hosts of its domain. */
export interface TossedCookie {
  readonly name: string
  readonly value: string
  readonly path: string
}

/** A host of somebody else below the domain of the platform, with HTTPS. */
export interface HostileSibling {
  /** The address of its page, which sets the cookies in every way that a browser might accept. */
  readonly page: string
  toss(cookies: readonly TossedCookie[]): void
  close(): void
}

export async function openHostileSibling(domain: string): Promise<HostileSibling> {
  let headers: string[] = []
  const server = createServer(selfSigned, (_, response) => {
    response.setHeader('set-cookie', headers)
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><title>Sibling</title>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // A server that listens on a port has an address with a port.
    page: `https://evil.${domain}:${(server.address() as AddressInfo).port}/`,
    toss: (cookies) => {
      headers = cookies.flatMap((cookie) => tossed(cookie, domain))
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * Returns the ways to set a cookie. Some browsers sent a cookie without a name so that it looked
 * like another one. Some servers remove spaces outside of ASCII.
 */
function tossed({ name, value, path }: TossedCookie, domain: string): readonly string[] {
  const names = new Set([name, name.replace(/^__Host-/, ''), name.replace(/^__Host-/, '__host-')])
  const pairs = [...names, `=${name}`, `\u00a0${name}`, `\t${name}`].map((one) => `${one}=${value}`)
  return pairs.map((pair) => `${pair}; Domain=${domain}; Path=${path}; Secure`)
}
