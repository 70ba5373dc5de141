import { AppError } from '../lib/error.ts'

const form = /^(?=.{1,253}$)(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * A host name of a user in its one spelling, maybe with `*.` in front. Throws 400 for what no DNS has, and for names of the
 * platform: its domain and everything below, and where the platform itself is reached.
 */
export function checkDomain(
  text: string,
  platform: { readonly domain: string; readonly hosts: readonly string[] },
): string {
  const domain = text.trim().toLowerCase()
  if (!form.test(domain)) {
    throw new AppError(
      'invalid',
      'domain must be a host name like shop.example.org or *.example.org, in ASCII (names in other scripts as xn--…).',
    )
  }
  const base = domain.replace(/^\*\./, '')
  if (base === platform.domain || base.endsWith(`.${platform.domain}`)) {
    throw new AppError(
      'invalid',
      `domain must not be ${platform.domain} or below: names there are given by the platform.`,
    )
  }
  if (platform.hosts.includes(domain))
    throw new AppError('invalid', 'domain must not be the address of the platform itself.')
  return domain
}
