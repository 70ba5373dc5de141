import { BlockList, isIP } from 'node:net'
import { parseArgs } from 'node:util'

export interface RouterConfig {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** Path of the unix socket on which the control plane talks to this process. */
  readonly control: string
  /** Path of the file that keeps the last route table. */
  readonly state: string
  /** Networks whose `X-Forwarded-*` are believed; none unless told. */
  readonly trusted: readonly string[]
  /** Another router listens there, too, and is about to end; else the port has to be free. */
  readonly share?: boolean
}

/** Reads the command line. Throws an Error whose message says which flag is wrong. */
export function parseConfig(args: readonly string[]): RouterConfig {
  const { values } = parseArgs({
    args: [...args],
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8080' },
      control: { type: 'string' },
      state: { type: 'string' },
      trusted: { type: 'string', default: '' },
      share: { type: 'boolean', default: false },
    },
  })
  if (!values.control) throw new Error('--control is missing: the path of the control socket')
  if (!values.state) throw new Error('--state is missing: the path of the file that keeps the route table')
  const port = Number(values.port)
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) throw new Error(`--port "${values.port}" is not a port number`)
  const trusted = values.trusted.split(',').filter((network) => network !== '')
  trustOf(trusted)
  return { host: values.host, port, control: values.control, state: values.state, trusted, share: values.share }
}

/** Whether a peer's `X-Forwarded-*` are believed. Networks are addresses or CIDRs; throws on anything else. */
export function trustOf(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = isIP(address)
    const bits = Number(prefix ?? (family === 6 ? 128 : 32))
    if (family === 0 || !Number.isInteger(bits)) throw new Error(`--trusted "${network}" is not an address or a CIDR`)
    list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
