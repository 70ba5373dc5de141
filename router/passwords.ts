import { createHmac, randomBytes } from 'node:crypto'
import { longestPassword } from '@quayside/contract/routes.ts'
import { limits } from './limits.ts'
import { hashFor, type Logins } from './logins.ts'
import { OwnedMap } from './owned-map.ts'
import { gives } from './password.ts'
import { Pots } from './pots.ts'
import { Turns } from './turns.ts'

/** `busy` means that too many recent passwords were wrong, so this one was not checked. */
export type Verdict = 'good' | 'wrong' | 'busy'

/** Who sends a password, and to whom. */
export interface Asker {
  /** The organization of the service. */
  readonly owner: string
  readonly service: string
  /** The address of the client, or its network. */
  readonly client: string
}

/**
 * Checks the passwords of requests. A valid password is remembered as a digest under a key of this
 * process, so later checks cost almost nothing. An unknown password costs one hash, on another
 * thread. Hashes are limited for each client of a service, each service and each organization, and
 * waiting ones take turns by the same names.
 */
export class Passwords {
  readonly #key = randomBytes(32)
  readonly #known = new OwnedMap<true>(limits.knownPasswords)
  readonly #clients = new Pots(limits.wrongPasswords, limits.knownPasswords)
  readonly #services = new Pots(limits.servicePasswords, limits.knownPasswords)
  readonly #owners = new Pots(limits.organizationPasswords, 1)
  readonly #turns = new Turns(limits.waitingChecks)
  /** Organizations with a check that runs. Each has one at most. */
  readonly #running = new Set<string>()
  /** Checks that have not ended. Equal ones of one client are made once. */
  readonly #pending = new Map<string, Promise<boolean>>()

  /** Checks the `Authorization` header of a request. A promise never rejects. */
  check(logins: Logins, header: string | undefined, asker: Asker): Verdict | Promise<Verdict> {
    const given = header === undefined ? undefined : readBasic(header)
    if (!given) return 'wrong'
    const { hash, exists } = hashFor(logins, given.login)
    const digest = this.#digest(hash, given)
    if (exists && this.#known.get(asker.owner, digest)) return 'good'
    const name = `${asker.service} ${asker.client} ${digest}`
    const found = this.#pending.get(name) ?? this.#begin(name, asker, () => gives(given.password, hash))
    if (!found) return 'busy'
    return found.then((isRight) => {
      if (!isRight || !exists) return 'wrong'
      this.#known.set(asker.owner, digest, true)
      return 'good'
    })
  }

  /** Begins a check, or has it wait. Undefined if there were too many. */
  #begin(name: string, { owner, service, client }: Asker, check: () => Promise<boolean>): Promise<boolean> | undefined {
    const place = `${service} ${client}`
    const isLeft = this.#clients.has(owner, place) && this.#services.has(owner, service) && this.#owners.has(owner, '')
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const work = (): void => {
      this.#running.add(owner)
      void check().then((isRight) => {
        this.#running.delete(owner)
        this.#pending.delete(name)
        if (isRight) this.#clients.giveBack(owner, place)
        resolve(isRight)
        this.#next()
      })
    }
    if (!isLeft || !this.#turns.add([owner, service, client], work)) return undefined
    this.#clients.take(owner, place)
    this.#services.take(owner, service)
    this.#owners.take(owner, '')
    this.#pending.set(name, promise)
    this.#next()
    return promise
  }

  #next(): void {
    if (this.#running.size < limits.passwordChecks) this.#turns.next((owner) => !this.#running.has(owner))?.()
  }

  #digest(hash: string, { login, password }: Given): string {
    return createHmac('sha256', this.#key)
      .update(`${hash}\n${login.length}\n${login}\n`)
      .update(password)
      .digest('base64')
  }
}

interface Given {
  readonly login: string
  readonly password: Buffer
}

/** Returns undefined if the header holds no valid login and password. */
function readBasic(header: string): Given | undefined {
  const token = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header)?.[1]
  if (token === undefined) return undefined
  const pair = Buffer.from(token, 'base64')
  const colon = pair.indexOf(':')
  const password = pair.subarray(colon + 1)
  if (colon < 0 || password.length > longestPassword) return undefined
  return { login: pair.subarray(0, colon).toString('utf8'), password }
}
