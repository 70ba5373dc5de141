import { BlockList, isIP } from 'node:net'

/** Finds the sender of a request that came through proxies, for the router and the API server. */

/** The longest chain of proxies that is followed. */
const mostHops = 20

/**
 * Returns a check whether an address is in one of these addresses or CIDRs. Throws an Error that
 * names an invalid one.
 */
export function networkList(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix, more] = network.split('/')
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
    if (family === 0 || more !== undefined || bits < 0 || bits > most) {
      throw new Error(`"${network}" is not an address or a CIDR such as 10.1.0.0/16`)
    }
    list.addSubnet(address, bits, family === 6 ? 'ipv6' : 'ipv4')
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Returns an address in its short form, with a mapped IPv4 address as IPv4. Undefined if it is not
 * an address.
 */
export function plainAddress(text: string): string | undefined {
  const address =
    text
      .toLowerCase()
      .replace(/^::ffff:(?=\d{1,3}\.)/, '')
      .split('%', 1)[0] ?? ''
  return isIP(address) === 0 ? undefined : address
}

/** Reads one entry of `X-Forwarded-For`, to which some proxies add the port. */
function hopAddress(text: string): string | undefined {
  const bracketed = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1]
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1]
  return plainAddress(bracketed ?? withPort ?? text)
}

/**
 * Returns the addresses that a request went through, from its client to `peer`. Entries are read
 * from the end up to the first address that is not a trusted proxy. That is the client. The client
 * itself sent the entries before it, so they do not count.
 */
export function forwardedChain(
  peer: string,
  forwardedFor: string | undefined,
  trusts: (address: string) => boolean,
): readonly string[] {
  const chain = [plainAddress(peer) ?? '0.0.0.0']
  let rest = forwardedFor ?? ''
  while (rest !== '' && chain.length < mostHops && trusts(chain[0] ?? '')) {
    const comma = rest.lastIndexOf(',')
    const address = hopAddress(rest.slice(comma + 1).trim())
    if (address === undefined) break
    chain.unshift(address)
    rest = comma === -1 ? '' : rest.slice(0, comma)
  }
  return chain
}

/**
 * Returns the unit that counts as one client: an IPv4 address, or the first 64 bits of an IPv6
 * address, because one subscriber has all addresses below them.
 */
export function clientGroup(address: string): string {
  const plain = plainAddress(address) ?? address
  if (isIP(plain) !== 6) return plain
  const [head = '', tail] = plain.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  // An IPv4 address at the end makes up two groups.
  const written = before.length + after.length + (plain.includes('.') ? 1 : 0)
  const groups = tail === undefined ? before : [...before, ...Array<string>(8 - written).fill('0'), ...after]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
