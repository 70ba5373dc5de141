import type { IncomingMessage, ServerResponse } from 'node:http'
import { messagePage, type Page, pagePolicy, writePage } from './pages.ts'
import type { Refusal } from './refusal.ts'

/** One request of a browser or of a program that signs in. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The address of the client, for limits. */
  readonly address: string
}

/** Sends a page. `forms`: further targets of its forms. */
export function send(response: ServerResponse, status: number, page: Page, forms: readonly string[] = []): void {
  response.statusCode = status
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.setHeader('content-security-policy', pagePolicy(forms))
  response.end(writePage(page))
}

/** Sends a page that says why something is refused. */
export function refuse(response: ServerResponse, refusal: Refusal, page: Page, forms?: readonly string[]): void {
  const { status, retryAfterSeconds } = refusal
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
  send(response, status, page, forms)
}

export function redirect(response: ServerResponse, location: string): void {
  response.statusCode = 303
  response.setHeader('location', location)
  response.end()
}

/** Sends the page of a link that leads nowhere. */
export const gone = (response: ServerResponse): void =>
  send(response, 404, messagePage('Page not found', 'This link is invalid, expired or already used.'))

/** The headers of every page of accounts. */
export function setPageHeaders(response: ServerResponse): void {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-security-policy', pagePolicy())
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('x-content-type-options', 'nosniff')
}

/** The query of a request, without the question mark. */
export const queryOf = ({ url = '' }: IncomingMessage): string => url.split('?').slice(1).join('?')
