import { randomBytes, scryptSync } from 'node:crypto'
import { type BasicCredential, longestPassword, passwordCost } from '@quayside/contract/routes.ts'

const mostLogins = 100
const apr1 = /^\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}$/
const sha1 = /^\{SHA\}([A-Za-z0-9+/]{27}=)$/
const ways = 'Write the password itself, or what `htpasswd -nm` or `htpasswd -ns` prints'

/**
 * Reads `login:password` pairs, separated by commas or lines. Passwords are plain or in a form of
 * htpasswd (APR1, SHA-1). Returns them with newly salted hashes. Throws an Error whose message
 * contains nothing of the input.
 */
export function credentialsOf(value: string): readonly BasicCredential[] {
  const pairs = value
    .split(/[,\r\n]+/)
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
  if (pairs.length === 0) throw new Error('is empty')
  if (pairs.length > mostLogins) throw new Error(`holds more than ${mostLogins} logins`)
  return pairs.map((pair, index) => credentialOf(pair, `pair ${index + 1}`))
}

function credentialOf(pair: string, which: string): BasicCredential {
  const colon = pair.indexOf(':')
  if (colon < 1) throw new Error(`must hold login:password pairs separated by commas, and ${which} is none`)
  return { login: pair.slice(0, colon), hash: hashOf(pair.slice(colon + 1), which) }
}

function hashOf(given: string, which: string): string {
  if (apr1.test(given)) return given
  const digest = sha1.exec(given)?.[1]
  if (digest !== undefined) return `sha1-${scrypted(Buffer.from(digest, 'base64'))}`
  const form = /^(?:\$[\w-]+\$|\{[A-Z\d-]+\})/.exec(given)?.[0]
  if (form !== undefined && form !== '{PLAIN}') {
    throw new Error(`has a password that the router cannot check (${which}: ${nameOf(form)}). ${ways}`)
  }
  const password = Buffer.from(form === undefined ? given : given.slice(form.length))
  if (password.length === 0) throw new Error(`has no password in ${which}`)
  if (password.length > longestPassword) {
    throw new Error(`has a password of more than ${longestPassword} bytes in ${which}`)
  }
  return scrypted(password)
}

const nameOf = (form: string): string => {
  if (/^\$2[abxy]?\$$/.test(form)) return 'bcrypt'
  return form === '$apr1$' || form === '{SHA}' ? `a broken ${form}` : 'an unknown hash'
}

function scrypted(secret: Buffer): string {
  const { bytes, ...cost } = passwordCost
  const salt = randomBytes(16)
  return `scrypt:${salt.toString('base64url')}:${scryptSync(secret, salt, bytes, cost).toString('base64url')}`
}
