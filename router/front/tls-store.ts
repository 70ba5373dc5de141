import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { ServedCertificate } from '../certificates.ts'
import type { Log } from '../log.ts'
import { askFront, changeFront, FrontRefusal } from './admin-socket.ts'
import type { FrontFiles } from './front-files.ts'

const names = new WeakMap<ServedCertificate, string>()

/** Returns the name of a certificate in HAProxy. Another certificate of a host has another name. */
export function nameOfCertificate(one: ServedCertificate): string {
  const known = names.get(one)
  if (known !== undefined) return known
  const { host, chain, key } = one
  const mark = createHash('sha256').update(`${host}\n`).update(chain).update(key).digest('hex').slice(0, 32)
  const name = `${host.replaceAll(/[^a-z0-9.-]/g, '_').slice(0, 200)}.${mark}.pem`
  names.set(one, name)
  return name
}

/** Returns a certificate with its issuers and its key, without empty lines. */
export function pemOf({ chain, key }: ServedCertificate): string {
  // The answer to a challenge is both.
  const text = chain === key ? chain.trim() : `${chain.trim()}\n${key.trim()}`
  return `${text}\n`.replace(/\n\s*\n/g, '\n')
}

/** Returns the line of a certificate in the list of HAProxy, where it has this name. */
export const lineOf = (name: string, { host, protocol }: ServedCertificate): string =>
  `${name}${protocol === undefined ? '' : ` [alpn ${protocol}]`} ${host}\n`

/** The certificates in HAProxy's memory. They change over its socket. */
export class TlsStore {
  readonly #files: FrontFiles
  readonly #log: Log
  /** How HAProxy calls each certificate, by its name. Undefined if that is unknown. */
  #stored: Map<string, string> | undefined
  /** The names of certificates that HAProxy does not accept. */
  readonly #refused = new Set<string>()
  /** The list to which the refused ones belong. */
  #wanted: readonly ServedCertificate[] = []
  #served: readonly ServedCertificate[] | undefined
  /** The names of certificates that an HAProxy has accepted. */
  #accepted = new Set<string>()
  /** The names of certificates with which HAProxy does not start. */
  readonly #unfit = new Set<string>()
  /** How many certificates were sent over the socket. It only grows. */
  sent = 0

  constructor(files: FrontFiles, log: Log) {
    this.#files = files
    this.#log = log
  }

  /** Must be called if another HAProxy runs, or if it is unknown which certificates it has. */
  forget(): void {
    this.#stored = undefined
    this.#served = undefined
  }

  /** Whether HAProxy serves these certificates, except refused ones. */
  serves(wanted: readonly ServedCertificate[]): boolean {
    return this.#served === wanted
  }

  /**
   * Returns the names of certificates with which HAProxy starts, in the order in which it reads
   * them. HAProxy ends at the first one that it refuses, and users may upload certificates. So the
   * ones that no HAProxy has accepted yet come first, and each refusal costs little.
   */
  forStart(names: readonly string[]): readonly string[] {
    const fit = names.filter((name) => !this.#unfit.has(name))
    return [...fit.filter((name) => !this.#accepted.has(name)), ...fit.filter((name) => this.#accepted.has(name))]
  }

  /** Records that HAProxy has read these certificates in their order, and has refused one. */
  noteRefused(names: readonly string[], refused: string): void {
    for (const name of names.slice(0, names.indexOf(refused))) this.#accepted.add(name)
    this.#unfit.add(refused)
  }

  /**
   * Sends at most `most` of the certificates that HAProxy lacks. A new certificate of a host is
   * served before the previous one is removed. Returns whether nothing is left to do. Throws if
   * HAProxy does not answer.
   */
  async follow(wanted: readonly ServedCertificate[], most: number): Promise<boolean> {
    this.#served = undefined
    if (this.#wanted !== wanted) this.#refused.clear()
    this.#wanted = wanted
    const stored = this.#stored ?? (await storedCertificates(this.#files))
    // After an error, the next call asks HAProxy.
    this.#stored = undefined
    const byName = new Map(wanted.map((one) => [nameOfCertificate(one), one]))
    const missing = [...byName].filter(([name]) => !stored.has(name) && !this.#refused.has(name))
    for (const [name, one] of missing.slice(0, most)) if (await this.#add(name, one)) stored.set(name, name)
    const room = most - missing.length
    const gone = room > 0 ? [...stored].filter(([name]) => !byName.has(name)) : []
    for (const [name, inHaproxy] of gone.slice(0, room)) {
      await this.#remove(inHaproxy)
      stored.delete(name)
    }
    this.#stored = stored
    this.#accepted = new Set(stored.keys())
    for (const name of this.#unfit) if (!byName.has(name) || stored.has(name)) this.#unfit.delete(name)
    const isDone = room > 0 && gone.length <= room
    if (isDone) this.#served = wanted
    return isDone
  }

  async #add(name: string, one: ServedCertificate): Promise<boolean> {
    const { admin, certificates } = this.#files
    this.sent++
    try {
      // A store that an interrupted change left already exists, and is filled again.
      const fill = `new ssl cert ${name}; set ssl cert ${name} <<\n${pemOf(one)}`
      await changeFront(admin, fill, /Transaction (?:created|updated)/)
      const serve = `commit ssl cert ${name}; add ssl crt-list ${certificates} <<\n${lineOf(name, one)}`
      await changeFront(admin, serve, /Success![\s\S]*Success!/)
      return true
    } catch (error) {
      if (!(error instanceof FrontRefusal)) throw error
      this.#refused.add(name)
      this.#unfit.add(name)
      this.#log.error('certificate cannot be used', { host: one.host, error: error.message })
      return false
    }
  }

  /** A certificate that HAProxy keeps must not delay changes of routes. */
  async #remove(inHaproxy: string): Promise<void> {
    const { admin } = this.#files
    try {
      await this.#unlist(inHaproxy)
      await changeFront(admin, `del ssl cert ${inHaproxy}`, /deleted!/)
    } catch (error) {
      if (!(error instanceof FrontRefusal)) throw error
      this.#log.error('certificate cannot be removed', { error: error.message })
    }
  }

  /** Two routers that take turns may both have listed a certificate: then each line is named. */
  async #unlist(inHaproxy: string): Promise<void> {
    const { admin, certificates } = this.#files
    const remove = `del ssl crt-list ${certificates} ${inHaproxy}`
    const answer = await askFront(admin, remove)
    const several = /line number preceded by colons \(([\d, ]+)\)/.exec(answer)?.[1]
    if (several === undefined) {
      if (!/deleted in crtlist/.test(answer)) throw new FrontRefusal(`HAProxy refused "${remove}": ${answer}`)
      return
    }
    for (const line of several.split(', ')) await changeFront(admin, `${remove}:${line}`, /deleted in crtlist/)
  }
}

/** Returns the hosts whose certificates the running HAProxy serves. */
export async function servedHosts({ admin, certificates }: FrontFiles): Promise<string[]> {
  const text = await askFront(admin, `show ssl crt-list ${certificates}`)
  return [...text.matchAll(/^[^\s#]\S*\.pem (\S+)$/gm)].map(([, host = '']) => host)
}

/** Returns how HAProxy calls the certificates that it serves, by their names. */
async function storedCertificates({ admin, certificates }: FrontFiles): Promise<Map<string, string>> {
  const text = await askFront(admin, `show ssl crt-list ${certificates}`)
  return new Map(
    [...text.matchAll(/^([^\s#]\S*\.pem) (?:\[[^\]\n]*\] )?\S+$/gm)].map(([, name = '']) => [basename(name), name]),
  )
}
