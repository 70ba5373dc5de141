import { type RouteRules, redirectStatuses, retryConditions } from '@quayside/contract/routes.ts'
import { hashForm } from './password.ts'
import { record } from './record.ts'
import { compileRules } from './rules.ts'

type Reader = (value: unknown) => unknown
const number: Reader = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
const text: Reader = (value) => (typeof value === 'string' && !/[\r\n\0]/.test(value) ? value : undefined)
const flag: Reader = (value) => (typeof value === 'boolean' ? value : undefined)
const texts: Reader = (value) =>
  Array.isArray(value) && value.every((one) => text(one) !== undefined) ? value : undefined
const textsByName: Reader = (value) => {
  const pairs = Object.entries(record(value, 'headers'))
  return pairs.every(([name, one]) => /^[\w-]+$/.test(name) && text(one) !== undefined) ? value : undefined
}
const cors: Reader = (value) => {
  const { origins, methods, headers } = record(value, 'cors')
  const isWhole = texts(origins) && text(methods) !== undefined && text(headers) !== undefined
  return isWhole ? { origins, methods, headers } : undefined
}

const retry: Reader = (value) => {
  const { times, on = [], statuses = [], perTryMs = 1 } = record(value, 'retry')
  const known: ReadonlySet<unknown> = new Set(retryConditions)
  const isWhole =
    number(times) !== undefined &&
    number(perTryMs) !== undefined &&
    Array.isArray(on) &&
    on.every((one) => known.has(one)) &&
    Array.isArray(statuses) &&
    statuses.every((one) => number(one) !== undefined)
  return isWhole ? value : undefined
}

const maintenance: Reader = (value) => {
  const { message, except } = record(value, 'maintenance')
  return text(message) !== undefined && (except === undefined || texts(except)) ? value : undefined
}

const redirects: Reader = (value) => {
  const known: ReadonlySet<unknown> = new Set(redirectStatuses)
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.every((one: unknown) => {
    const { from, to, status } = record(one, 'redirects')
    return text(from) !== undefined && text(to) !== undefined && known.has(status)
  })
    ? value
    : undefined
}

const credentials: Reader = (value) => {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.every((one: unknown) => {
    const { login, hash } = record(one, 'basicAuth')
    return typeof login === 'string' && login !== '' && typeof hash === 'string' && hashForm.test(hash)
  })
    ? value
    : undefined
}

const signIn: Reader = (value) => {
  const { page, key, organization, roles } = record(value, 'signIn')
  const isWhole =
    typeof page === 'string' &&
    /^https?:\/\/[\x21-\x7e]+$/.test(page) &&
    typeof key === 'string' &&
    /^[\w-]{43}$/.test(key) &&
    typeof organization === 'string' &&
    texts(roles) !== undefined
  return isWhole ? { page, key, organization, roles } : undefined
}

const readers: Readonly<Record<keyof RouteRules, Reader>> = {
  maxBodyBytes: number,
  readTimeoutMs: number,
  connectTimeoutMs: number,
  sendTimeoutMs: number,
  clientTimeoutMs: number,
  requestTimeoutMs: number,
  idleTimeoutMs: number,
  retry,
  allow: texts,
  deny: texts,
  sticky: flag,
  accessLines: flag,
  compression: flag,
  cors,
  headers: textsByName,
  basicAuth: credentials,
  requestsPerMinute: number,
  maintenance,
  redirects,
  requestHeaders: textsByName,
  signIn,
  embeddable: flag,
}

/** Reads rules from untrusted data. Throws an Error that names the invalid rule. */
export function parseRules(value: unknown, where: string): RouteRules {
  const given = record(value, where)
  const parsed: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(readers)) {
    if (given[name] === undefined) continue
    parsed[name] = read(given[name])
    if (parsed[name] === undefined) throw new Error(`${where}.${name}: the value is invalid`)
  }
  // The reader of the same name checked each member.
  const rules = parsed as RouteRules
  compileRules(rules)
  return rules
}
