import { randomBytes, scrypt } from 'node:crypto'
import { type BasicCredential, longestPassword, passwordCost } from '@quayside/contract/routes.ts'
import { createSlots } from '../lib/slots.ts'

const mostLogins = 100
const apr1 = /^\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}$/
const sha1 = /^\{SHA\}([A-Za-z0-9+/]{27}=)$/
const ways = 'Write the password itself, or what `htpasswd -nm` or `htpasswd -ns` prints'

/** Hashes at the same time. Each takes a thread of the pool that files and names need too. */
const slots = createSlots(2, { perOwner: 1 })

/** A login with a hash, or with the secret that is hashed. */
interface Pair {
  readonly login: string
  readonly stored: { readonly hash: string } | { readonly form: '' | 'sha1-'; readonly secret: Buffer }
}

/**
 * Reads `login:password` pairs, separated by commas or lines. Passwords are plain or in a form of
 * htpasswd (APR1, SHA-1). Returns them with newly salted hashes. Throws an Error whose message
 * contains nothing of the input. Hashes of one owner are made one after the other.
 */
export async function credentialsOf(value: string, owner: string): Promise<readonly BasicCredential[]> {
  const credentials: BasicCredential[] = []
  for (const { login, stored } of pairsOf(value)) {
    const hash = 'hash' in stored ? stored.hash : `${stored.form}${await scrypted(stored.secret, owner)}`
    credentials.push({ login, hash })
  }
  return credentials
}

function pairsOf(value: string): readonly Pair[] {
  const pairs = textsOf(value)
  if (pairs.length === 0) throw new Error('is empty')
  if (pairs.length > mostLogins) throw new Error(`holds more than ${mostLogins} logins`)
  const read = pairs.map((pair, index) => pairOf(pair, `pair ${index + 1}`))
  const repeated = repeatedLogin(value)
  if (repeated !== undefined) throw new Error(repeated)
  return read
}

const textsOf = (value: string): readonly string[] =>
  value
    .split(/[,\r\n]+/)
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')

/** Returns which pairs have the same login, as a predicate. Undefined if none do. */
export function repeatedLogin(value: string): string | undefined {
  const places = new Map<string, number>()
  for (const [index, pair] of textsOf(value).entries()) {
    const login = pair.split(':', 1)[0] ?? ''
    const first = places.get(login)
    if (first !== undefined && pair.includes(':')) {
      return `has the same login in pair ${first + 1} and pair ${index + 1}`
    }
    if (pair.includes(':')) places.set(login, index)
  }
  return undefined
}

function pairOf(pair: string, which: string): Pair {
  const colon = pair.indexOf(':')
  if (colon < 1) throw new Error(`must hold login:password pairs separated by commas, and ${which} is none`)
  return { login: pair.slice(0, colon), stored: storedOf(pair.slice(colon + 1), which) }
}

function storedOf(given: string, which: string): Pair['stored'] {
  if (apr1.test(given)) return { hash: given }
  const digest = sha1.exec(given)?.[1]
  if (digest !== undefined) return { form: 'sha1-', secret: Buffer.from(digest, 'base64') }
  const form = /^(?:\$[\w-]+\$|\{[A-Z\d-]+\})/.exec(given)?.[0]
  if (form !== undefined && form !== '{PLAIN}') {
    throw new Error(`has a password that the router cannot check (${which}: ${nameOf(form)}). ${ways}`)
  }
  const password = Buffer.from(form === undefined ? given : given.slice(form.length))
  if (password.length === 0) throw new Error(`has no password in ${which}`)
  if (password.length > longestPassword) {
    throw new Error(`has a password of more than ${longestPassword} bytes in ${which}`)
  }
  return { form: '', secret: password }
}

const nameOf = (form: string): string => {
  if (/^\$2[abxy]?\$$/.test(form)) return 'bcrypt'
  return form === '$apr1$' || form === '{SHA}' ? `a broken ${form}` : 'an unknown hash'
}

function scrypted(secret: Buffer, owner: string): Promise<string> {
  const { bytes, ...cost } = passwordCost
  const salt = randomBytes(16)
  const hash = (): Promise<string> =>
    new Promise((resolve, reject) => {
      scrypt(secret, salt, bytes, cost, (error, made) => {
        if (error) reject(error)
        else resolve(`scrypt:${salt.toString('base64url')}:${made.toString('base64url')}`)
      })
    })
  // It takes some milliseconds and its own turn, so nothing has to end it.
  return slots.run(new AbortController().signal, hash, owner)
}
