/**
 * The first version of HAProxy that may serve HTTP/3. Earlier ones end when a response begins with
 * a status 1xx (3.0.11 was tried), or may end when a stream is reset (the changelog of 3.2.25).
 */
const firstVersion = '3.2.25'

/** Facts that decide whether HAProxy can serve HTTP/3. */
export interface Http3Facts {
  /** The port of HTTPS. Undefined: HTTP only. */
  readonly tlsPort: number | undefined
  /** Networks of proxies in front of the router. */
  readonly proxies: readonly string[]
  /** How HAProxy describes its build, `haproxy -vv`. Empty if it does not run. */
  readonly build: string
}

/**
 * Returns why HAProxy cannot serve HTTP/3. Undefined if it can. Clients behind a proxy speak to the
 * proxy, which passes on no datagrams of theirs.
 */
export function whyNoHttp3({ tlsPort, proxies, build }: Http3Facts): string | undefined {
  if (tlsPort === undefined) return 'the router has no port of HTTPS'
  if (proxies.length > 0) return 'clients come through proxies'
  return speaksHttp3(build) ? undefined : `this HAProxy is older than ${firstVersion} or has no QUIC`
}

/** Returns whether a build of HAProxy, as `haproxy -vv` describes it, can serve HTTP/3. */
export function speaksHttp3(build: string): boolean {
  const [, version = '0'] = /^HAProxy version (\d+(?:\.\d+)*)/.exec(build) ?? []
  const features = build.split('\n').find((line) => line.startsWith('Feature list :')) ?? ''
  const isCurrent = version.localeCompare(firstVersion, 'en', { numeric: true }) >= 0
  return isCurrent && features.split(' ').includes('+QUIC')
}
