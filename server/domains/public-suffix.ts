import { getDomain } from 'tldts'

/**
 * Names below suffixes of companies (`shop.github.io`) belong to different people, as those below
 * `co.uk` do.
 */
const rules = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const

/**
 * The part of a name that somebody registers: `example.co.uk` of `www.example.co.uk`. Undefined for
 * a public suffix, below which different people register names. The list comes with the library.
 */
export const registrableDomain = (name: string): string | undefined => getDomain(name, rules) ?? undefined
