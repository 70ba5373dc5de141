import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { monotonic, timestamp } from './clock.ts'
import { limits } from './limits.ts'
import { ownerOf } from './owner.ts'
import { SharedPlaces } from './shared-places.ts'

/** A request whose line is written at its end. */
export interface RequestLine {
  /** The bytes of the response's body. */
  bytes: number
}

/** Writes the line of a request, by its status and the bytes of its response's body. */
export type WriteLine = (status: number, bytes: number) => void

/** Whose line it is. */
type Owned = Parameters<typeof ownerOf>[0]

/**
 * The lines of requests to services that want them, until the control plane takes them. Their
 * number is limited for each service, and organizations share the room: a busy one does not take
 * that of the others.
 */
export class AccessLines {
  /** Undefined: a line that was dropped for one of another organization. */
  #lines: (AccessLine | undefined)[] = []
  /** Where the lines of each organization are. */
  readonly #owners = new Map<string, number[]>()
  #places = new SharedPlaces(limits.accessLines)
  readonly #counts = new Map<string, number>()
  /** Requests without a line, by their service. */
  readonly #missed = new Map<string, number>()

  /**
   * Writes a line once the response has ended, or its client has left. The bytes of its body are
   * added to what it returns.
   */
  watch(owned: Owned, request: ClientRequest, response: ClientResponse, client: string): RequestLine {
    const line = { bytes: 0 }
    const write = this.begin(owned, request, client)
    response.once('close', () => write(response.headersSent ? response.statusCode : 499, line.bytes))
    return line
  }

  /** Returns the function that writes the line of a request that arrives now. */
  begin(owned: Owned, { method, url }: Pick<ClientRequest, 'method' | 'url'>, client: string): WriteLine {
    const startedAt = monotonic()
    let isWritten = false
    return (status, bytes) => {
      if (isWritten) return
      isWritten = true
      const ms = Math.round(monotonic() - startedAt)
      const asked = `${levelOf(status)} ${shownMethod(method)} ${shownPath(url)}`
      this.#add(owned, {
        service: owned.service,
        at: timestamp(),
        text: `${asked} ${status} ${ms} ms ${bytes} B ${client}`,
      })
    }
  }

  /** Returns the lines since the last call, oldest first. */
  take(): readonly AccessLine[] {
    const lines = this.#lines.filter((line) => line !== undefined)
    for (const [service, count] of this.#missed) {
      lines.push({ service, at: timestamp(), text: `warning ${count} more requests have no line` })
    }
    this.#lines = []
    this.#owners.clear()
    this.#places = new SharedPlaces(limits.accessLines)
    this.#counts.clear()
    this.#missed.clear()
    return lines
  }

  #add(owned: Owned, line: AccessLine): void {
    const owner = ownerOf(owned)
    const count = this.#counts.get(line.service) ?? 0
    if (count >= limits.accessLinesPerService || !this.#makeRoom(owner)) {
      this.#miss(line.service)
      return
    }
    this.#counts.set(line.service, count + 1)
    this.#places.take(owner)
    const own = this.#owners.get(owner)
    if (own) own.push(this.#lines.length)
    else this.#owners.set(owner, [this.#lines.length])
    this.#lines.push(line)
  }

  /** Whether an owner may have one more. May drop the newest line of another owner for it. */
  #makeRoom(owner: string): boolean {
    const { isFree, from } = this.#places.roomFor(owner)
    const place = from === undefined ? undefined : this.#owners.get(from)?.pop()
    const dropped = place === undefined ? undefined : this.#lines[place]
    if (from === undefined || place === undefined || !dropped) return isFree
    this.#lines[place] = undefined
    this.#places.release(from)
    this.#counts.set(dropped.service, (this.#counts.get(dropped.service) ?? 0) - 1)
    this.#miss(dropped.service)
    return true
  }

  #miss(service: string): void {
    this.#missed.set(service, (this.#missed.get(service) ?? 0) + 1)
  }
}

const levelOf = (status: number): string => (status >= 500 ? 'error' : status >= 400 ? 'warning' : 'info')

const longestMethod = 20
const longestPath = 500

/** Characters that could forge a line or control a terminal are written as escapes. */
const escaped = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)

/** Clients of HTTP/2 choose any method. A longer line than the platform accepts would be lost. */
export function shownMethod(method = '-'): string {
  const shown = escaped(method.slice(0, longestMethod))
  const isCut = method.length > longestMethod || shown.length > longestMethod
  return isCut ? `${shown.slice(0, longestMethod)}...` : shown
}

/** Returns the path of a request without its query, which may have secrets. */
export function shownPath(url = '/'): string {
  const end = url.indexOf('?')
  const path = (end < 0 ? url : url.slice(0, end)).slice(0, longestPath)
  const shown = escaped(path)
  const isCut = (end < 0 ? url.length : end) > longestPath
  return `${shown.slice(0, longestPath)}${isCut || shown.length > longestPath ? '...' : ''}${end < 0 ? '' : '?...'}`
}
