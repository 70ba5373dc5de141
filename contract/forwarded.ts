import { BlockList, isIP, SocketAddress } from 'node:net'

/** Finds the sender of a request that came through proxies, for the router and the API server. */

/** The longest chain of proxies that is followed. */
const mostHops = 20

/**
 * Returns a check whether an address is in one of these addresses or CIDRs. A network of IPv6
 * contains no IPv4 address, and one of mapped addresses is a network of IPv4. Throws an Error that
 * names an invalid one.
 */
export function networkList(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false
  // A list of both families would count the IPv4 addresses to `::/0`.
  const [ipv4, ipv6] = [new BlockList(), new BlockList()]
  for (const network of networks) {
    const { address, bits, isIpv4 } = readNetwork(network)
    if (isIpv4) ipv4.addSubnet(address, bits, 'ipv4')
    else ipv6.addSubnet(address, bits, 'ipv6')
  }
  return (given) => {
    const address = mappedAddress(given) ?? given
    const family = isIP(address)
    return family === 4 ? ipv4.check(address, 'ipv4') : family === 6 && ipv6.check(address, 'ipv6')
  }
}

function readNetwork(network: string): { readonly address: string; readonly bits: number; readonly isIpv4: boolean } {
  const [address = '', prefix, more] = network.split('/')
  const family = isIP(address)
  const most = family === 6 ? 128 : 32
  const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
  if (family === 0 || more !== undefined || bits < 0 || bits > most) {
    throw new Error(`"${network}" is not an address or a CIDR such as 10.1.0.0/16`)
  }
  const mapped = bits < mappedBits ? undefined : mappedAddress(address)
  return mapped === undefined
    ? { address, bits, isIpv4: family === 4 }
    : { address: mapped, bits: bits - mappedBits, isIpv4: true }
}

/** The bits in front of a mapped IPv4 address (RFC 4291, 2.5.5.2). */
const mappedBits = 96

/** Returns the IPv4 address that an IPv6 address stands for, in whatever spelling. */
function mappedAddress(address: string): string | undefined {
  // Each spelling begins with zeros.
  if (!/^[0:]/.test(address) || isIP(address) !== 6) return undefined
  const usual = new SocketAddress({ address: address.toLowerCase(), family: 'ipv6' }).address
  return /^::ffff:([\d.]+)$/.exec(usual)?.[1]
}

/**
 * Returns an address in its short form, with a mapped IPv4 address as IPv4. Undefined if it is not
 * an address.
 */
export function plainAddress(text: string): string | undefined {
  const address = text.toLowerCase().split('%', 1)[0] ?? ''
  return mappedAddress(address) ?? (isIP(address) === 0 ? undefined : address)
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
