import { domainToASCII } from 'node:url'
import { ConfigError, type Variables } from './config-forms.ts'

const usual = 'localhost'
/** The longest domain below which `<name>-<8 hex digits>` is still a name of DNS. */
const longest = 253 - 64

/**
 * Reads the domain below which services get their names, in lower case. Throws ConfigError with the
 * name of the variable.
 */
export function domainOf(variables: Variables): string {
  const text = variables['QUAYSIDE_DOMAIN'] || usual
  const domain = text.toLowerCase()
  if (isDomain(domain)) return domain
  const meant = domainIn(domain)
  const hint = isDomain(meant) ? `. Is it "${meant}"?` : '.'
  throw new ConfigError(
    `QUAYSIDE_DOMAIN must be a domain such as example.org, without a scheme, a port and a path, not "${text}"${hint}`,
  )
}

/** Whether a text is a name of DNS. Addresses are not: their last label has digits only. */
function isDomain(text: string): boolean {
  const labels = text.split('.')
  const isLabel = (label: string): boolean =>
    label.length <= 63 && /^[a-z0-9-]+$/.test(label) && !label.startsWith('-') && !label.endsWith('-')
  return text.length <= longest && labels.every(isLabel) && !/^[0-9]+$/.test(labels.at(-1) ?? '')
}

/** Returns the domain in an address, in a wildcard or in another script. It may be invalid too. */
function domainIn(text: string): string {
  const [, rest = text] = text.split('://', 2)
  const [host = ''] = rest.trim().split(/[:/?#]/, 1)
  const base = host.startsWith('*.') ? host.slice(2) : host
  return domainToASCII(base.endsWith('.') ? base.slice(0, -1) : base)
}
