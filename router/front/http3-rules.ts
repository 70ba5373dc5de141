import type { FrontFiles } from './front-files.ts'

/** How long clients may use HTTP/3 without a hint in another response, in seconds. */
const hintSeconds = 86_400

/** HTTP/3 at the UDP port of the same number as HTTPS, with its certificates. */
export const http3Bind = (address: string, port: number, { certificates }: FrontFiles): string =>
  `bind quic${address.startsWith('[') ? 6 : 4}@${address}:${port} ssl strict-sni crt-list ${certificates} alpn h3`

/**
 * `limited-quic` allows HTTP/3 with a TLS library that has no QUIC of its own, such as Debian 13's.
 * With the same secret, the next HAProxy can tell clients that their connections are gone.
 */
export const http3Globals = (secret: string): string[] => ['  limited-quic', `  cluster-secret ${secret}`]

/** Tells clients of HTTP/3 (RFC 7838). */
export const http3Hint = (port: number): string =>
  `  http-after-response set-header alt-svc h3=\\":${port}\\";\\ ma=${hintSeconds}`
