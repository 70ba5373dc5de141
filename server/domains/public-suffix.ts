import { createRequire } from 'node:module'
import type { getDomain } from 'tldts'

type GetDomain = typeof getDomain

/** Loaded on first use, because the list takes memory and many installations have no domain. */
let loaded: GetDomain | undefined
function load(): GetDomain {
  if (loaded) return loaded
  const library: { readonly getDomain: GetDomain } = createRequire(import.meta.url)('tldts')
  loaded = library.getDomain
  return loaded
}

/**
 * Includes suffixes of companies: names below `github.io` belong to different people, like those
 * below `co.uk`.
 */
const rules = { allowPrivateDomains: true, extractHostname: false, validateHostname: false } as const

/**
 * Returns the registrable part of a name: `example.co.uk` of `www.example.co.uk`. Undefined for a
 * public suffix, below which different people register names. The library contains the list.
 */
export const registrableDomain = (name: string): string | undefined => load()(name, rules) ?? undefined
