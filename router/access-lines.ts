import type { AccessLine } from '@quayside/contract/access-line.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { monotonic, timestamp } from './clock.ts'
import { limits } from './limits.ts'

/** A request whose line is written at its end. */
export interface RequestLine {
  /** The bytes of the response's body. */
  bytes: number
}

/** Writes the line of a request, by its status and the bytes of its response's body. */
export type WriteLine = (status: number, bytes: number) => void

/**
 * The lines of requests to services that want them, until the control plane takes them. Their
 * number is limited for each service, so that a busy one does not take the room of the others.
 */
export class AccessLines {
  #lines: AccessLine[] = []
  readonly #counts = new Map<string, number>()
  /** Requests without a line, by their service. */
  readonly #missed = new Map<string, number>()

  /**
   * Writes a line once the response has ended, or its client has left. The bytes of its body are
   * added to what it returns.
   */
  watch(service: string, request: ClientRequest, response: ClientResponse, client: string): RequestLine {
    const line = { bytes: 0 }
    const write = this.begin(service, request, client)
    response.once('close', () => write(response.headersSent ? response.statusCode : 499, line.bytes))
    return line
  }

  /** Returns the function that writes the line of a request that arrives now. */
  begin(service: string, { method, url }: Pick<ClientRequest, 'method' | 'url'>, client: string): WriteLine {
    const startedAt = monotonic()
    let isWritten = false
    return (status, bytes) => {
      if (isWritten) return
      isWritten = true
      const ms = Math.round(monotonic() - startedAt)
      const asked = `${levelOf(status)} ${shownMethod(method)} ${shownPath(url)}`
      this.#add({ service, at: timestamp(), text: `${asked} ${status} ${ms} ms ${bytes} B ${client}` })
    }
  }

  /** Returns the lines since the last call, oldest first. */
  take(): readonly AccessLine[] {
    const lines = this.#lines
    for (const [service, count] of this.#missed) {
      lines.push({ service, at: timestamp(), text: `warning ${count} more requests have no line` })
    }
    this.#lines = []
    this.#counts.clear()
    this.#missed.clear()
    return lines
  }

  #add(line: AccessLine): void {
    const count = this.#counts.get(line.service) ?? 0
    if (count < limits.accessLinesPerService && this.#lines.length < limits.accessLines) {
      this.#counts.set(line.service, count + 1)
      this.#lines.push(line)
    } else this.#missed.set(line.service, (this.#missed.get(line.service) ?? 0) + 1)
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
