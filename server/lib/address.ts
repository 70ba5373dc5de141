import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Returns every address of a host name; rejects if it has none. */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

/**
 * Decides which addresses users may have the server connect to: global unicast addresses, and
 * private ones that the operator listed. Callers must connect to an address that `check` returned
 * and never resolve the name again, because the answer may have changed.
 */
export interface AddressGuard {
  /**
   * Returns the addresses to connect to, at least one. `hostname` comes from a parsed URL. Throws
   * AddressError.
   */
  check(hostname: string, signal: AbortSignal): Promise<readonly string[]>
  /**
   * Answers without the name service: false for literal addresses and `localhost` names that
   * `check` would refuse, else true.
   */
  literalIsAllowed(hostname: string): boolean
  /**
   * Whether the address is inside a CIDR that the operator listed. Only these may use plain http
   * and any port.
   */
  isAllowedPrivate(address: string): boolean
  /** Whether the operator listed any CIDR. */
  readonly allowsPrivate: boolean
}

/** The server will not connect to the address. `message` can be shown to the user. */
export class AddressError extends Error {
  readonly reason: 'refused' | 'unresolved'

  constructor(reason: AddressError['reason'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'AddressError'
    this.reason = reason
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

const globalIPv6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Addresses that look global but answer only inside a cloud: Azure's wire server. */
const neverPublic = new Set(['168.63.129.16'])
const localNames = /^(?:.+\.)?localhost$/

/**
 * `allowedPrivateCidrs`: the list of the operator, such as `10.1.0.0/16`; throws if one is not a
 * CIDR. `ownAddresses`: the addresses of this machine, refused even if they are global.
 */
export function createAddressGuard(options: {
  readonly allowedPrivateCidrs: readonly string[]
  readonly resolve?: ResolveHost
  readonly ownAddresses?: () => readonly string[]
}): AddressGuard {
  const { resolve = resolveHost, ownAddresses = interfaceAddresses } = options
  const listed = options.allowedPrivateCidrs.map(parseCidr)
  const isListed = (address: Address): boolean => listed.some((cidr) => isInside(address, cidr))
  const isAllowed = (address: Address): boolean =>
    isListed(address) || (isPublic(address) && !ownAddresses().includes(address.toString()))

  async function check(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const host = canonicalHost(hostname)
    const fixed = fixedAddresses(host)
    const addresses = (fixed ?? (await resolve(host, signal))).map((text) => ipaddr.process(text))
    const allowed = addresses.filter(isAllowed)
    // One bad address refuses the whole name; `localhost` is fixed, so only the operator's list
    // counts.
    const enough = localNames.test(host) ? allowed.length > 0 : allowed.length === addresses.length
    if (addresses.length === 0 || !enough) throw refusal(host)
    return allowed.map((address) => address.toString())
  }

  return {
    check,
    literalIsAllowed(hostname) {
      try {
        const fixed = fixedAddresses(canonicalHost(hostname))
        return fixed === undefined || fixed.some((text) => isAllowed(ipaddr.process(text)))
      } catch {
        return false
      }
    },
    isAllowedPrivate: (address) => ipaddr.isValid(address) && isListed(ipaddr.process(address)),
    allowsPrivate: listed.length > 0,
  }
}

/**
 * Returns the canonical spelling of a host by the URL standard: `0x7f.1` becomes 127.0.0.1,
 * full-width letters become plain ones.
 */
function canonicalHost(hostname: string): string {
  const url = URL.parse(`http://${hostname}/`)
  const host = url?.hostname.replace(/\.$/, '') ?? ''
  const isHostAlone = /^(?:\[[^\]]*\]|[^\s/\\@:?#[\]]*)$/.test(hostname)
  if (host === '' || !isHostAlone) {
    throw new AddressError(
      'refused',
      'The address has no valid host name. Write it like https://git.example.com/team/app.git.',
    )
  }
  return host.startsWith('[') ? host.slice(1, -1) : host
}

/** Returns the addresses of a host that needs no name service: a literal address or localhost. */
function fixedAddresses(host: string): readonly string[] | undefined {
  if (ipaddr.isValid(host)) return [host]
  return localNames.test(host) ? ['127.0.0.1', '::1'] : undefined
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || neverPublic.has(address.toString())) return false
  return address instanceof ipaddr.IPv4 || address.match(globalIPv6)
}

function isInside(address: Address, [network, bits]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits)
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}

function parseCidr(text: string): [Address, number] {
  try {
    return ipaddr.parseCIDR(text)
  } catch (cause) {
    throw new Error(`"${text}" is not a CIDR such as 10.0.0.0/8 or fd00::/8`, { cause })
  }
}

// The message hides the address of a name: users must not learn what the operator's name service
// answers.
const refusal = (host: string): AddressError =>
  new AddressError(
    'refused',
    `The address of "${host}" is not public, so it is not contacted. Use a public address, or ask the ` +
      'operator to list its network in QUAYSIDE_ALLOW_PRIVATE_TARGETS.',
  )

async function resolveHost(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const found = await untilAborted(lookup(hostname, { all: true, order: 'verbatim' }), signal)
    return found.map(({ address }) => address)
  } catch (cause) {
    signal.throwIfAborted()
    throw new AddressError('unresolved', `The name "${hostname}" was not found. Check the spelling of the address.`, {
      cause,
    })
  }
}

/** Stops waiting when the signal is aborted; the system's name service itself cannot be stopped. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const onAbort = (): void => reject(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  return promise
}

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list = []) =>
    list.map(({ address }) => ipaddr.process(address).toString()),
  )
