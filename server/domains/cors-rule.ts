import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import { listOf, type RuleReader, text } from './rule-reader.ts'

const prefix = 'network.ingress.'
const usual = {
  origins: '*',
  methods: 'GET, PUT, POST, DELETE, PATCH, OPTIONS',
  headers:
    'DNT, Keep-Alive, User-Agent, X-Requested-With, If-Modified-Since, Cache-Control, Content-Type, Range, ' +
    'Authorization',
}
/** Origins of applications on phones and desktops, such as `capacitor://localhost`. */
const ofApplication = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::\d{1,5})?$/
const anyLabel = /^https?:\/\/\*\.[^*]+$/

function corsOf(all: SettingValues) {
  const of = (name: string): unknown => all[`${prefix}cors_allow_${name}`]
  const [methods, headers] = [namesOf(of('methods'), usual.methods), namesOf(of('headers'), usual.headers)]
  return { origins: listOf(of('origin'), usual.origins), methods, headers }
}

function namesOf(value: unknown, fallback: string): string {
  const names = text(value, fallback)
  if (!/^[\x20-\x7e]*$/.test(names)) throw new Error('it must be ASCII')
  return names
}

/** Throws if no browser sends one of these origins, or none is given. */
function checkOrigins(value: unknown): void {
  const origins = listOf(value, usual.origins)
  const wrong = origins.length === 0 ? '' : origins.find((one) => one !== '*' && !isOrigin(one))
  if (wrong !== undefined) {
    throw new Error(
      `"${wrong}" is not an origin as browsers write it, such as https://shop.example or https://*.shop.example`,
    )
  }
}

/** Pages without an origin of their own send `null`. It stands for nobody. */
function isOrigin(text: string): boolean {
  if (text.includes('*') && !anyLabel.test(text)) return false
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.origin === text
  return url !== null && ofApplication.test(text)
}

/**
 * The readers of the settings about CORS, by key. Each value is checked by its own reader, so that
 * a wrong one is named, and one rule is made of all. They throw for an invalid value.
 */
export const corsReaders: Readonly<Record<string, RuleReader>> = {
  [`${prefix}cors_allow_origin`]: (value) => {
    checkOrigins(value)
    return {}
  },
  [`${prefix}cors_allow_methods`]: (value) => {
    namesOf(value, usual.methods)
    return {}
  },
  [`${prefix}cors_allow_headers`]: (value) => {
    namesOf(value, usual.headers)
    return {}
  },
  [`${prefix}enable_cors`]: (value, all) => (value === true ? { cors: corsOf(all) } : {}),
}
