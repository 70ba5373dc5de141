import { limits } from '../limits.ts'
import type { FrontFiles } from './front-files.ts'
import { http3Globals } from './http3-rules.ts'

/** The settings of the process. */
export interface ProcessSettings {
  readonly files: FrontFiles
  /** The secret of HTTP/3, which HAProxy serves beside HTTPS then. */
  readonly http3?: string | undefined
  /** The CPUs to which threads are bound. Undefined: the system moves threads. */
  readonly cpus?: readonly number[] | undefined
}

/** Of one request's or response's header block. */
const headerBytes = 16 * 1024
/** The headers that are added have at most 500 bytes. */
const rewriteBytes = 1024

/**
 * Of each thread: freed memory that it keeps. By default it is half a megabyte, which the buffers
 * of thirty requests fill. More requests at once, as over HTTP/2, free and allocate all the time.
 */
const keptBytes = 8 * 1024 * 1024

/** Most requests fit, with their cookies and the headers that are added. */
const smallBytes = 4 * 1024

/**
 * Returns lines for an HAProxy that can copy small requests into small buffers for a retry. 3.4.0
 * to 3.4.4 can too, but then they close every connection of HTTP/1.1 after one response.
 */
export const smallCopies = (...lines: readonly string[]): string[] => since('3.4.5', lines)

const since = (version: string, lines: readonly string[]): string[] => [
  `.if version_atleast(${version})`,
  ...lines,
  '.endif',
]

/** The intermediate profile of https://wiki.mozilla.org/Security/Server_Side_TLS. */
const profile = [
  'ssl-default-bind-ciphers ' +
    ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'].join(':') +
    ':' +
    ['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'].join(':'),
  'ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
  'ssl-default-bind-options prefer-client-ciphers ssl-min-ver TLSv1.2',
]

/** Returns the lines of the process. `mark` says what follows them. */
export function globalSection({ files, cpus, http3 }: ProcessSettings, mark: string): string[] {
  return [
    'global',
    `  description quayside-${mark}`,
    `  stats socket ${files.admin} mode 600 level admin`,
    // The router reads times and notices its end over connections that are often silent.
    '  stats timeout 1d',
    `  hard-stop-after ${limits.shutdownMs}ms`,
    // A request's header block fits into one buffer, beside the room for added headers. HAProxy
    // copies the whole buffer of most requests that it may send again, so it is not larger.
    `  tune.bufsize ${headerBytes + rewriteBytes}`,
    `  tune.maxrewrite ${rewriteBytes}`,
    ...smallCopies(`  tune.bufsize.small ${smallBytes}`),
    ...since('2.8', [`  tune.memory.hot-size ${keptBytes}`]),
    ...(cpus ? [`  nbthread ${cpus.length}`, `  cpu-map auto:1/1-${cpus.length} ${cpus.join(' ')}`] : []),
    ...(http3 === undefined ? [] : http3Globals(http3)),
    '  ssl-load-extra-files none',
    ...profile.map((line) => `  ${line}`),
  ]
}
