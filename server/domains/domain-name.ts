import { domainToASCII } from 'node:url'
import { AppError } from '../lib/error.ts'
import { registrableDomain } from './public-suffix.ts'

/** Names that this installation itself uses. */
export interface PlatformNames {
  /** The domain below which services get names. */
  readonly domain: string
  /** Hosts of the API. */
  readonly hosts: readonly string[]
}

const form =
  'domain must be a host name such as shop.example.org or *.example.org: letters, digits and hyphens between ' +
  'dots, at most 253 characters.'
/**
 * ASCII characters that host names cannot have. Other scripts pass because they have an ASCII form.
 */
const oddCharacter = /[^a-z0-9.*\u0080-\u{10ffff}-]/iu

/** Returns the name without `*.`. */
export const baseOf = (domain: string): string => (domain.startsWith('*.') ? domain.slice(2) : domain)

/** Whether a name equals another or is below it. Both come from `parseDomain`, without `*.`. */
export const isAtOrBelow = (name: string, other: string): boolean => name === other || name.endsWith(`.${other}`)

/**
 * Parses a user's host name, with or without `*.`, and returns its normal form: lower case, ASCII,
 * no trailing dot. Throws 400 for names that are invalid in DNS, public suffixes, and the
 * platform's names.
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

/** Throws 400 for names at or below a domain whose names the platform assigns. */
export function refuseNamesOf(own: string, domain: string): void {
  if (!isAtOrBelow(baseOf(domain), own)) return
  throw new AppError('invalid', `domain must not be ${own} or a name below it: the platform assigns those names.`)
}

function checkNotPlatform(domain: string, { domain: own, hosts }: PlatformNames): void {
  const base = baseOf(domain)
  refuseNamesOf(own, domain)
  const isWildcard = base !== domain
  const used = [own, ...hosts].find((name) => name === domain || (isWildcard && parentOf(name) === base))
  if (used === undefined) return
  throw new AppError('invalid', `domain must not cover ${used}: the platform uses that name itself.`)
}

const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1)
