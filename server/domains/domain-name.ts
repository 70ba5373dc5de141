import { domainToASCII } from 'node:url'
import { AppError } from '../lib/error.ts'
import { registrableDomain } from './public-suffix.ts'

/** Names that this installation uses itself. */
export interface PlatformNames {
  /** Services get names below it. */
  readonly domain: string
  /** Hosts of the API. */
  readonly hosts: readonly string[]
}

const form =
  'domain must be a host name such as shop.example.org or *.example.org: letters, digits and hyphens between ' +
  'dots, at most 253 characters.'
/** ASCII that no host name has. Letters of other scripts pass: they have a form in ASCII. */
const oddCharacter = /[^a-z0-9.*\u0080-\u{10ffff}-]/iu

/** The name without `*.`. */
export const baseOf = (domain: string): string => (domain.startsWith('*.') ? domain.slice(2) : domain)

/** Whether a name is another one or below it. Both as `parseDomain` returns them, without `*.`. */
export const isAtOrBelow = (name: string, other: string): boolean => name === other || name.endsWith(`.${other}`)

/**
 * Parses a host name of a user, possibly with `*.` in front, into its one spelling: lower case,
 * ASCII, no closing dot. Throws 400 for names that DNS cannot have, public suffixes, and names of
 * the platform.
 */
export function parseDomain(text: string, platform: PlatformNames): string {
  const domain = normalize(text)
  const base = baseOf(domain)
  if (!isHostName(base)) throw new AppError('invalid', form)
  if (registrableDomain(base) === undefined) {
    const message = `domain must not be ${domain}: names below ${base} belong to different people. Name a domain of yours.`
    throw new AppError('invalid', message)
  }
  checkNotPlatform(domain, platform)
  return domain
}

function normalize(text: string): string {
  const trimmed = text.trim()
  const isWildcard = trimmed.startsWith('*.')
  const rest = isWildcard ? trimmed.slice(2) : trimmed
  if (oddCharacter.test(rest)) throw new AppError('invalid', form)
  const ascii = domainToASCII(rest)
  return `${isWildcard ? '*.' : ''}${ascii.endsWith('.') ? ascii.slice(0, -1) : ascii}`
}

function isHostName(name: string): boolean {
  const labels = name.split('.')
  const isLabel = (label: string): boolean =>
    label.length <= 63 && /^[a-z0-9-]+$/.test(label) && !label.startsWith('-') && !label.endsWith('-')
  return name.length <= 253 && labels.length > 1 && labels.every(isLabel) && /^[a-z]/.test(labels.at(-1) ?? '')
}

function checkNotPlatform(domain: string, { domain: own, hosts }: PlatformNames): void {
  const base = baseOf(domain)
  if (isAtOrBelow(base, own)) {
    throw new AppError('invalid', `domain must not be ${own} or a name below it: the platform assigns those names.`)
  }
  const isWildcard = base !== domain
  const used = [own, ...hosts].find((name) => name === domain || (isWildcard && parentOf(name) === base))
  if (used === undefined) return
  throw new AppError('invalid', `domain must not cover ${used}: the platform uses that name itself.`)
}

const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1)
