import { parseArgs } from 'node:util'
import { type ConnectionLimits, usualConnections } from '@quayside/contract/connection-shares.ts'
import { networkList } from '@quayside/contract/forwarded.ts'
import { type PodConfig, parsePodConfig, podFlags } from './pod-config.ts'

export interface RouterConfig {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Path of the unix socket on which the control plane talks to this process, unless `pod`. */
  readonly control: string
  /** Path of the file that keeps the last route table. */
  readonly state: string
  /** Networks whose `X-Forwarded-*` headers are trusted. None by default. */
  readonly trusted: readonly string[]
  /** The limits of each port. `usualConnections` by default. */
  readonly connections?: ConnectionLimits
  /**
   * Another router that is about to end listens on this port too. Otherwise the port must be free.
   */
  readonly share?: boolean
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
      control: { type: 'string' },
      state: { type: 'string' },
      trusted: { type: 'string', default: '' },
      connections: { type: 'string', default: String(usualConnections.total) },
      'connections-per-client': { type: 'string', default: String(usualConnections.perClient) },
      share: { type: 'boolean', default: false },
      ...podFlags,
    },
  })
  const pod = parsePodConfig(values)
  if (!values.control && !pod) throw new Error('--control is missing: the path of the control socket')
  if (!values.state) throw new Error('--state is missing: the path of the file that keeps the route table')
  const port = Number(values.port)
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) throw new Error(`--port "${values.port}" is not a port number`)
  const trusted = values.trusted.split(',').filter((network) => network !== '')
  checkNetworks(trusted)
  const connections = {
    total: countIn(values, 'connections'),
    perClient: countIn(values, 'connections-per-client'),
  }
  const { host, control = '', state, share } = values
  return { host, port, control, state, trusted, connections, share, ...(pod && { pod }) }
}

function countIn<Flag extends string>(values: Readonly<Record<Flag, string>>, flag: Flag): number {
  const count = Number(values[flag])
  if (!/^\d{1,7}$/.test(values[flag]) || count < 1)
    throw new Error(`--${flag} "${values[flag]}" is not a number of connections`)
  return count
}

function checkNetworks(networks: readonly string[]): void {
  try {
    networkList(networks)
  } catch (error) {
    throw new Error(`--trusted: ${error instanceof Error ? error.message : 'not networks'}`, { cause: error })
  }
}
