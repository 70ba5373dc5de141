import { type RedirectRule, redirectStatuses } from '@quayside/contract/routes.ts'
import { positive, type RuleReader, text } from './rule-reader.ts'
import { rolesIn, signInSetting } from './sign-in-rule.ts'

const prefix = 'network.router.'
export const redirectsSetting = `${prefix}redirects`
const mostRedirects = 200
const longestAddress = 2_000
/** A path that clients accept, without a query and with one meaning for `*`. */
const path = /^\/[A-Za-z0-9._~!$&'()+,;=:@%/-]*$/

/**
 * Reads redirects: paths or addresses by path, each alone or with its status. Throws if one is
 * invalid.
 */
export function redirectsOf(value: unknown): readonly RedirectRule[] {
  const given: unknown = JSON.parse(text(value, '{}'))
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new Error('it is not a JSON object')
  const entries = Object.entries(given)
  if (entries.length > mostRedirects) throw new Error(`at most ${mostRedirects} redirects are possible`)
  return entries.map(([from, one]) => redirectOf(from, one))
}

function redirectOf(from: string, given: unknown): RedirectRule {
  const { to, status = 308 } = typeof given === 'string' ? { to: given } : Object(given)
  const known = redirectStatuses.find((one) => one === status)
  if (known === undefined) throw new Error(`the status of "${from}" is not one of ${redirectStatuses.join(', ')}`)
  if (!path.test(withoutRest(from))) throw new Error(`"${from}" is not a path such as /old or /old/*`)
  if (typeof to !== 'string' || !isTarget(withoutRest(to))) {
    throw new Error(`"${from}" does not lead to a path such as /new or an address such as https://example.org/new`)
  }
  if (to.endsWith('/*') && !from.endsWith('/*')) throw new Error(`"${to}" needs a path with /* to take the rest from`)
  return { from, to, status: known }
}

const withoutRest = (place: string): string => (place.endsWith('/*') ? place.slice(0, -1) : place)

/** Whether a browser reads it as the path or address that it shows. `//host` is another host. */
function isTarget(to: string): boolean {
  if (to.length > longestAddress || !/^[\x21-\x7e]+$/.test(to) || to.includes('\\') || to.includes('*')) return false
  if (to.startsWith('/')) return !to.startsWith('//')
  const protocol = URL.parse(to)?.protocol
  return (protocol === 'https:' || protocol === 'http:') && /^https?:\/\/[^/]/i.test(to)
}

/**
 * The readers of settings below `network.router.`, which only the platform's own router knows. They
 * throw for an invalid value.
 */
export const visitorReaders = (
  headersOf: (value: unknown) => Readonly<Record<string, string>>,
  networksOf: (value: unknown) => string[],
): Readonly<Record<string, RuleReader>> => ({
  [`${prefix}access_log`]: (value) => (value === true ? { accessLines: true } : {}),
  [`${prefix}compression`]: (value) => (value === true ? { compression: true } : {}),
  [`${prefix}requests_per_minute`]: (value) => {
    const requestsPerMinute = positive(value)
    return requestsPerMinute === undefined ? {} : { requestsPerMinute }
  },
  // The members of the organization make the rule, see `signInRule`.
  [signInSetting]: (value) => {
    const roles = text(value)
    if (roles !== '') rolesIn(roles)
    return {}
  },
  // It has no effect on services that everybody may open.
  [`${signInSetting}_embeddable`]: (value, all) =>
    value === true && text(all[signInSetting]) !== '' ? { embeddable: true } : {},
  // Before the message, so that a wrong network is named by its own setting.
  [`${prefix}maintenance_source_range`]: (value) => {
    networksOf(value)
    return {}
  },
  [`${prefix}maintenance_message`]: (value, all) => {
    const message = text(value)
    if (/[\r\n\0]/.test(message)) throw new Error('it must be one line')
    const except = networksOf(all[`${prefix}maintenance_source_range`])
    return message === '' ? {} : { maintenance: { message, ...(except.length > 0 && { except }) } }
  },
  [redirectsSetting]: (value) => {
    const redirects = redirectsOf(value)
    return redirects.length === 0 ? {} : { redirects }
  },
  [`${prefix}request_headers`]: (value) => {
    const requestHeaders = headersOf(value)
    const wrong = Object.keys(requestHeaders).find((name) => isOfSender(name.toLowerCase()))
    if (wrong !== undefined) throw new Error(`"${wrong}" is a header that only the router may set`)
    return Object.keys(requestHeaders).length === 0 ? {} : { requestHeaders }
  },
})

/** Headers about the client or the connection. */
const isOfSender = (name: string): boolean =>
  /^(?:host|expect|forwarded|via|proxy|proxy-.*|x-forwarded-.*|x-real-ip|http2-settings)$/.test(name)
