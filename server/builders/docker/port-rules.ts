/** One port of the bridge, and the only addresses that its step may send from. */
export interface Binding {
  readonly port: string
  readonly mac: string
  readonly address: string
}

const prefix = 'QS-'

/** Pure: returns input of `ebtables-restore`. Rules apply before the bridge learns from a frame. */
export const bindingRules = ({ port, mac, address }: Binding): string =>
  [
    '*nat',
    `:${prefix}${port} ACCEPT`,
    `-A ${prefix}${port} -p ARP -s ${mac} --arp-mac-src ${mac} --arp-ip-src ${address} -j ACCEPT`,
    `-A ${prefix}${port} -p IPv4 -s ${mac} --ip-src ${address} -j ACCEPT`,
    `-A ${prefix}${port} -j DROP`,
    `-A PREROUTING -i ${port} -j ${prefix}${port}`,
    '',
  ].join('\n')

/**
 * Pure: returns the calls of `ebtables` that remove the rules of ports that no longer exist.
 * `listed` is the output of `ebtables -t nat -L`.
 */
export function removalCommands(listed: string, ports: ReadonlySet<string>): string[][] {
  const lines = listed.split('\n')
  const gone = lines
    .filter((line) => line.startsWith(`Bridge chain: ${prefix}`))
    .map((line) => line.slice(`Bridge chain: ${prefix}`.length).split(',')[0] ?? '')
    .filter((port) => port !== '' && !ports.has(port))
  return gone
    .flatMap((port) => [
      ...(lines.includes(`-i ${port} -j ${prefix}${port}`) ? [`-D PREROUTING -i ${port} -j ${prefix}${port}`] : []),
      `-F ${prefix}${port}`,
      `-X ${prefix}${port}`,
    ])
    .map((command) => ['-t', 'nat', ...command.split(' ')])
}

/** Pure: returns the index of `eth0` in the text of /proc/<pid>/net/dev_mcast. */
export function parseDeviceIndex(text: string): number | undefined {
  const row = text.split('\n').find((line) => line.split(/\s+/).includes('eth0'))
  return Number(row?.trim().split(/\s+/)[0]) || undefined
}

/** Pure: returns the IPv4 address beside loopback in the text of /proc/<pid>/net/fib_trie. */
export function parseAddress(text: string): string | undefined {
  let last = ''
  for (const line of text.split('\n')) {
    const [mark, address = ''] = line.trim().split(/\s+/)
    if (mark === '|--') last = address
    else if (line.includes('/32 host LOCAL') && !last.startsWith('127.')) return last
  }
  return undefined
}
