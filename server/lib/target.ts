import { isIP } from 'node:net'
import { AddressError, type AddressGuard } from './address.ts'

/**
 * Returns the problem with the scheme, port or credentials of an address that a user chose;
 * undefined if it has none. With `addresses` (from the guard) the result is final. Without them it
 * is a first check before the lookup, because a name may turn out to be in a network that the
 * operator listed.
 */
export function targetProblem(
  guard: AddressGuard,
  url: URL,
  options: { readonly addresses?: readonly string[]; readonly allowHttp?: boolean } = {},
): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The address must begin with https://.'
  if (url.username !== '' || url.password !== '') return 'The address must not contain a user name or a password.'
  if (options.addresses === undefined && !guard.literalIsAllowed(url.hostname)) {
    return (
      `The address of "${url.hostname}" is not public. Use a public address, or ask the operator to list its ` +
      'network in QUAYSIDE_ALLOW_PRIVATE_TARGETS.'
    )
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = options.addresses ?? (isIP(host) === 0 ? undefined : [host])
  const isPrivate = addresses ? addresses.every(guard.isAllowedPrivate) : guard.allowsPrivate
  if (isPrivate) return undefined
  if (url.protocol === 'http:' && !options.allowHttp) {
    return (
      'The address must begin with https://; plain http is for networks that the operator listed in ' +
      'QUAYSIDE_ALLOW_PRIVATE_TARGETS.'
    )
  }
  const ports = url.protocol === 'https:' ? ['', '8443'] : ['']
  return ports.includes(url.port)
    ? undefined
    : `Port ${url.port} is not contacted; use ${url.protocol === 'https:' ? '443 or 8443' : '80'}.`
}

/** Returns the checked addresses to connect to. Throws AddressError, or the signal's reason. */
export async function checkTarget(
  guard: AddressGuard,
  url: URL,
  options: { readonly allowHttp?: boolean; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { signal, ...policy } = options
  const early = targetProblem(guard, url, policy)
  if (early) throw new AddressError('refused', early)
  const addresses = await guard.check(url.hostname, signal)
  const problem = targetProblem(guard, url, { ...policy, addresses })
  if (problem) throw new AddressError('refused', problem)
  return addresses
}
