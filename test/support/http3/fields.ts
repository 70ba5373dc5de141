import type { Http3Request } from './client.ts'

/** A line of a header. */
export type Field = readonly [name: string, value: string]

/** A request as the program reads it. */
export interface SentRequest {
  readonly fields: readonly Field[]
  readonly body: string
  readonly trailers: readonly Field[]
  readonly cancelAfterMs: number | undefined
}

/** Adds the defaults of a request. */
export function toSend(request: Http3Request, ownAuthority: string): SentRequest {
  const { method = 'GET', path = '/', authority = ownAuthority, headers = {}, trailers = {}, cancelAfterMs } = request
  const body = Buffer.from(request.body ?? '')
  const hasLength = request.length ?? request.body !== undefined
  const pseudo = { ':method': method, ':scheme': 'https', ':authority': authority, ':path': path }
  const length = hasLength ? { 'content-length': String(body.length) } : {}
  return {
    fields: lines({ ...pseudo, ...length, ...headers }).sort(pseudoFirst),
    body: body.toString('latin1'),
    trailers: lines(trailers),
    cancelAfterMs,
  }
}

const lines = (headers: Readonly<Record<string, string | readonly string[]>>): Field[] =>
  Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value): Field => [name, value]))

const pseudoFirst = ([one]: Field, [other]: Field): number =>
  Number(other.startsWith(':')) - Number(one.startsWith(':'))

/** Joins the values of repeated names. */
export function joined(fields: readonly Field[]): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of fields) values.set(name, values.has(name) ? `${values.get(name)}, ${value}` : value)
  return Object.fromEntries(values)
}
