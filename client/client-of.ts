/**
 * A typed client of some operations of the contract. At run time it reads only their methods and
 * paths, so a program in a browser need not load the schemas.
 */
import type { Contract, Operation, Static } from '@quayside/contract'
import type { Sent, TSchema } from '@quayside/contract/schema.ts'

/** The type of a value on the wire, where times are strings. Bytes stay bytes. */
export type Wire<T> = T extends Date
  ? string
  : T extends Uint8Array
    ? Uint8Array<ArrayBuffer>
    : T extends readonly (infer Item)[]
      ? Wire<Item>[]
      : T extends object
        ? { [K in keyof T]: Wire<T[K]> }
        : T

type ParametersOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [N in Name]: string } & ParametersOf<Rest>
  : unknown
type Part<O, Key extends 'query' | 'body'> =
  O extends Record<Key, infer S extends TSchema>
    ? Record<never, never> extends Sent<S>
      ? { readonly [K in Key]?: Wire<Sent<S>> }
      : { readonly [K in Key]: Wire<Sent<S>> }
    : unknown
type Answer<O> = O extends { readonly status: 204 }
  ? undefined
  : O extends { readonly reply: infer S extends TSchema }
    ? Wire<Static<S>>
    : never

/**
 * The path parameters by name, and `query` and `body` if the operation has them. A body or query
 * with a required field is itself required.
 */
export type Input<O extends Operation> = ParametersOf<O['path']> & Part<O, 'query'> & Part<O, 'body'>
/** A function for each of some operations. */
export type ClientOf<C extends Operations> = {
  readonly [N in keyof C]: (input: Input<C[N]>) => Promise<Answer<C[N]>>
}
export type Client = ClientOf<Contract>
/** The part of an operation that a request needs. */
export type Endpoint = Pick<Operation, 'method' | 'path' | 'contentType'>
type Operations = Readonly<Record<string, Operation>>

/** A response that is not a success. `message` is from the server. */
export class ApiError extends Error {
  readonly status: number
  /** The seconds to wait, after a 429. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, message: string, retryAfterSeconds?: number) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export interface ClientOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** An API token or a JWT, or a function that returns the current one before each request. */
  readonly token: string | (() => string | Promise<string>)
  readonly fetch?: typeof fetch
}

/** Creates a client of some operations. */
export const createClientOf = <const C extends Operations>(operations: C, options: ClientOptions): ClientOf<C> =>
  createClientBy<C>(operations, options)

/**
 * Creates a client from the methods and paths of operations, whose types the caller names. The cast
 * joins the names computed at run time with these types.
 */
export function createClientBy<C extends Operations>(
  endpoints: { readonly [N in keyof C]: Endpoint },
  options: ClientOptions,
): ClientOf<C> {
  const entries = Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => [
    name,
    (input: Record<string, unknown>) => send(options, endpoint, input),
  ])
  return Object.fromEntries(entries) as ClientOf<C>
}

async function send(options: ClientOptions, operation: Endpoint, input: Record<string, unknown>): Promise<unknown> {
  const { baseUrl, token, fetch: send = fetch } = options
  const credential = typeof token === 'string' ? token : await token()
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input['query'] ?? {})) {
    if (value !== undefined) query.set(name, String(value))
  }
  const body = bodyOf(operation, input['body'])
  const answer = await send(`${baseUrl}${path}${query.size > 0 ? `?${query}` : ''}`, {
    method: operation.method,
    headers: { authorization: `Bearer ${credential}`, ...body?.headers },
    ...(body ? { body: body.text } : {}),
  })
  if (answer.ok && operation.contentType === 'application/octet-stream')
    return new Uint8Array(await answer.arrayBuffer())
  const text = await answer.text()
  if (!answer.ok) throw toError(answer, text)
  if (operation.contentType && answer.status !== 204) return text
  return text === '' ? undefined : JSON.parse(text)
}

/** Pure: a body in the format of its operation. A string is sent as it is if that is not JSON. */
function bodyOf({ contentType }: Endpoint, body: unknown) {
  if (body === undefined) return undefined
  return contentType && typeof body === 'string'
    ? { headers: { 'content-type': contentType }, text: body }
    : { headers: { 'content-type': 'application/json' }, text: JSON.stringify(body) }
}

function toError(answer: Response, text: string): ApiError {
  const seconds = Number(answer.headers.get('retry-after'))
  return new ApiError(answer.status, messageIn(text) ?? `${answer.status} ${answer.statusText}`, seconds || undefined)
}

function messageIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message)
  } catch {
    // A proxy answered, not the server. The status is enough.
  }
  return undefined
}
