import { createHmac, randomBytes } from 'node:crypto'
import { type BasicCredential, longestPassword } from '@quayside/contract/routes.ts'
import { monotonic } from './clock.ts'
import { limits } from './limits.ts'
import { gives } from './password.ts'

/** `busy` means that too many recent passwords were wrong, so this one was not checked. */
export type Verdict = 'good' | 'wrong' | 'busy'

/** A token bucket: `left` tokens at the time `at`. */
interface Bucket {
  left: number
  at: number
}

/**
 * Checks the passwords of requests. A valid password is remembered as a digest under a key of this
 * process, so later checks cost almost nothing. An unknown password takes milliseconds, so wrong
 * ones are limited for each client and unknown ones for all clients together.
 */
export class Passwords {
  readonly #key = randomBytes(32)
  readonly #known = new Set<string>()
  readonly #clients = new Map<string, Bucket>()
  readonly #all: Bucket = { left: limits.unknownPasswords, at: monotonic() }

  /** Checks the `Authorization` header of a request from the address `client`. */
  check(credentials: readonly BasicCredential[], header: string | undefined, client: string): Verdict {
    const given = header === undefined ? undefined : readBasic(header)
    if (!given) return 'wrong'
    const own = credentials.filter(({ login }) => login === given.login)
    if (own.some(({ hash }) => this.#known.has(this.#digest(hash, given.password)))) return 'good'
    const bucket = this.#bucketOf(client)
    if (left(bucket, limits.wrongPasswords, 1) < 1) return 'busy'
    if (left(this.#all, limits.unknownPasswords, limits.unknownPasswordsPerSecond) < 1) return 'busy'
    this.#all.left--
    // An unknown login takes as long as a known one.
    const tried = own.length > 0 ? own : credentials.slice(0, 1)
    const found = tried.filter(({ hash }) => gives(given.password, hash))[0]
    if (!found || own.length === 0) {
      bucket.left--
      return 'wrong'
    }
    if (this.#known.size >= limits.knownPasswords) this.#known.clear()
    this.#known.add(this.#digest(found.hash, given.password))
    return 'good'
  }

  #digest(hash: string, password: Buffer): string {
    return createHmac('sha256', this.#key).update(`${hash}\n`).update(password).digest('base64')
  }

  #bucketOf(client: string): Bucket {
    const known = this.#clients.get(client)
    if (known) return known
    if (this.#clients.size >= limits.knownPasswords) this.#clients.clear()
    const bucket = { left: limits.wrongPasswords, at: monotonic() }
    this.#clients.set(client, bucket)
    return bucket
  }
}

function left(bucket: Bucket, most: number, perSecond: number): number {
  const now = monotonic()
  bucket.left = Math.min(most, bucket.left + ((now - bucket.at) / 1000) * perSecond)
  bucket.at = now
  return bucket.left
}

/** Returns undefined if the header holds no valid login and password. */
function readBasic(header: string): { login: string; password: Buffer } | undefined {
  const token = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header)?.[1]
  if (token === undefined) return undefined
  const pair = Buffer.from(token, 'base64')
  const colon = pair.indexOf(':')
  const password = pair.subarray(colon + 1)
  if (colon < 0 || password.length > longestPassword) return undefined
  return { login: pair.subarray(0, colon).toString('utf8'), password }
}
