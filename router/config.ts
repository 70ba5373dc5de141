import { parseArgs } from 'node:util'
import { type ConnectionLimits, usualConnections } from '@quayside/contract/connection-shares.ts'
import { networkList } from '@quayside/contract/forwarded.ts'
import { type PodConfig, parsePodConfig, podFlags } from './pod-config.ts'

/** The proxies in front of a router. */
export interface ProxyNetworks {
  /** Networks whose `X-Forwarded-*` headers are trusted. None by default. */
  readonly trusted: readonly string[]
  /** Networks whose connections begin with a PROXY header. None by default. */
  readonly proxies?: readonly string[]
}

export interface RouterConfig extends ProxyNetworks {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** The port of HTTPS. 0 means any free port. Undefined: the router speaks HTTP only. */
  readonly tlsPort?: number
  /** The ports that clients use. Undefined: the ports on which the router listens. */
  readonly publicPort?: number
  readonly publicTlsPort?: number
  /** Path of the unix socket on which the control plane talks to this process, unless `pod`. */
  readonly control: string
  /** Path of the file that keeps the last route table. */
  readonly state: string
  /** The limits of each port. `usualConnections` by default. */
  readonly connections?: ConnectionLimits
  /**
   * Another router that is about to end listens on this port too. Otherwise the port must be free.
   */
  readonly share?: boolean
  /**
   * The program HAProxy, which then listens at the ports and carries most requests. Without it, the
   * router does.
   */
  readonly haproxy?: string
  /** Whether HAProxy serves HTTP/3 too, if it can. */
  readonly http3?: boolean
  /** Set in a pod of a cluster. */
  readonly pod?: PodConfig
}

/** Reads the command line. Throws an Error that names the invalid flag. */
export function parseConfig(args: readonly string[]): RouterConfig {
  const { values } = parseArgs({
    args: [...args],
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8080' },
      'tls-port': { type: 'string' },
      'public-port': { type: 'string' },
      'public-tls-port': { type: 'string' },
      control: { type: 'string' },
      state: { type: 'string' },
      trusted: { type: 'string', default: '' },
      proxies: { type: 'string', default: '' },
      connections: { type: 'string', default: String(usualConnections.total) },
      'connections-per-client': { type: 'string', default: String(usualConnections.perClient) },
      share: { type: 'boolean', default: false },
      haproxy: { type: 'string' },
      http3: { type: 'boolean', default: false },
      ...podFlags,
    },
  })
  const pod = parsePodConfig(values)
  if (!values.control && !pod) throw new Error('--control is missing: the path of the control socket')
  if (!values.state) throw new Error('--state is missing: the path of the file that keeps the route table')
  const port = portIn('port', values.port)
  const tlsPort = values['tls-port'] === undefined ? undefined : portIn('tls-port', values['tls-port'])
  const [trusted, proxies] = [networksIn(values, 'trusted'), networksIn(values, 'proxies')]
  const connections = {
    total: countIn(values, 'connections'),
    perClient: countIn(values, 'connections-per-client'),
  }
  const { host, control = '', state, share, haproxy, http3 } = values
  if (haproxy !== undefined && pod) throw new Error('--haproxy is not possible with --control-port')
  const tls = tlsPort === undefined ? {} : { tlsPort }
  const [publicPort, publicTlsPort] = [publicPortIn(values, 'public-port'), publicPortIn(values, 'public-tls-port')]
  return {
    host,
    port,
    ...tls,
    ...(publicPort !== undefined && { publicPort }),
    ...(publicTlsPort !== undefined && { publicTlsPort }),
    control,
    state,
    trusted,
    ...(proxies.length > 0 && { proxies }),
    connections,
    share,
    ...(haproxy !== undefined && { haproxy, http3 }),
    ...(pod && { pod }),
  }
}

function portIn(flag: string, text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error(`--${flag} "${text}" is not a port number`)
  return port
}

function publicPortIn<Flag extends string>(
  values: { readonly [Name in Flag]?: string | undefined },
  flag: Flag,
): number | undefined {
  const text = values[flag]
  const port = text === undefined ? undefined : portIn(flag, text)
  if (port === 0) throw new Error(`--${flag} "${text}" is not a port number`)
  return port
}

function countIn<Flag extends string>(values: Readonly<Record<Flag, string>>, flag: Flag): number {
  const count = Number(values[flag])
  if (!/^\d{1,7}$/.test(values[flag]) || count < 1)
    throw new Error(`--${flag} "${values[flag]}" is not a number of connections`)
  return count
}

function networksIn<Flag extends string>(values: Readonly<Record<Flag, string>>, flag: Flag): readonly string[] {
  const networks = values[flag].split(',').filter((network) => network !== '')
  try {
    networkList(networks)
  } catch (error) {
    throw new Error(`--${flag}: ${error instanceof Error ? error.message : 'not networks'}`, { cause: error })
  }
  return networks
}
