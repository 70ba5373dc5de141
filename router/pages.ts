import { STATUS_CODES } from 'node:http'

/** The error that a client gets if no endpoint can answer. */
export interface Failure {
  readonly status:
    | 301
    | 302
    | 303
    | 307
    | 308
    | 400
    | 401
    | 403
    | 404
    | 405
    | 413
    | 421
    | 429
    | 431
    | 501
    | 502
    | 503
    | 504
  /** One sentence for people. May contain text from users. */
  readonly message: string
  readonly retryAfterSeconds?: number
  /** The `WWW-Authenticate` header of a 401. */
  readonly challenge?: string
  /** The `Location` header of a redirect. */
  readonly location?: string
  /** Values of `Set-Cookie` headers. */
  readonly cookies?: readonly string[]
  /** Further headers, as alternating names and values. */
  readonly headers?: readonly string[]
}

export interface Page {
  readonly headers: readonly string[]
  readonly body: Buffer
}

/**
 * Returns a small HTML page if the client accepts HTML, otherwise JSON in the form of the API's
 * errors.
 */
export function pageFor(failure: Failure, accept: string | undefined): Page {
  const title = STATUS_CODES[failure.status] ?? 'Error'
  const html = accept?.includes('text/html') ?? false
  const body = Buffer.from(html ? htmlPage(failure, title) : jsonPage(failure, title))
  const headers = [
    'Content-Type',
    html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'Content-Length',
    String(body.length),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ]
  if (failure.retryAfterSeconds !== undefined) headers.push('Retry-After', String(failure.retryAfterSeconds))
  if (failure.location !== undefined) headers.push('Location', failure.location)
  if (failure.challenge !== undefined) headers.push('WWW-Authenticate', failure.challenge)
  for (const cookie of failure.cookies ?? []) headers.push('Set-Cookie', cookie)
  headers.push(...(failure.headers ?? []))
  return { headers, body }
}

/** Escapes text so that it cannot become markup in content or in an attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)

function jsonPage({ status, message }: Failure, title: string): string {
  return JSON.stringify({ status, error: title, message, detail: message })
}

function htmlPage({ status, message }: Failure, title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${status} ${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; color: #1d2530; background: #f6f7f9; margin: 20vh auto; max-width: 32rem; padding: 0 1.5rem }
h1 { font-size: 1.25rem; margin: 0 }
p { overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) { body { color: #dfe4ea; background: #14181d } }
</style>
<h1>${status} · ${title}</h1>
<p>${escapeHtml(message)}</p>
</html>
`
}
