import { getDomain } from 'tldts'

/**
 * Includes suffixes of companies: names below `github.io` belong to different people, like those
 * below `co.uk`.
 */
const rules = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const

/**
 * Returns the registrable part of a name: `example.co.uk` of `www.example.co.uk`. Undefined for a
 * public suffix, below which different people register names. The library contains the list.
 */
export const registrableDomain = (name: string): string | undefined => getDomain(name, rules) ?? undefined
