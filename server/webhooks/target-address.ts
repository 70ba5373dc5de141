import { AppError } from '../lib/error.ts'

/** The path that replaces a hidden one. Nobody has it as the path of a receiver. */
const hiddenPath = '/***'

/**
 * Returns the address of a receiver for readers who may not edit its webhook: scheme and host.
 * Path and query are a credential at many receivers. An address without them is unchanged.
 */
export function shortenedAddress(address: string): string {
  const url = URL.parse(address)
  if (url === null) return hiddenPath
  return address === url.origin || address === `${url.origin}/` ? address : `${url.origin}${hiddenPath}`
}

/**
 * Returns the address to store when a client sends one. The shortened form of the stored address
 * leaves it unchanged. Throws 400 for any other shortened address, also when nothing is stored.
 */
export function addressToStore(sent: string, stored: string | undefined): string {
  if (stored !== undefined && sent === shortenedAddress(stored)) return stored
  const url = URL.parse(sent)
  if (url?.pathname !== hiddenPath) return sent
  throw new AppError(
    'invalid',
    `target_url is shortened: ${hiddenPath} replaces a path that only administrators may read. Send the whole address.`,
  )
}
