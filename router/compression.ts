import { type Coding, chooseCoding } from './accept-encoding.ts'

/** A response of an endpoint, and the request for it. */
interface Answered {
  readonly status: number
  readonly method: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** The headers of the request. */
  readonly acceptEncoding: string | undefined
  readonly cacheControl: string | undefined
}

/** How a response of a type that compresses is sent. */
export interface Compression {
  /** Undefined: its body is unchanged. */
  readonly coding: Coding | undefined
  /** The headers with this coding. */
  readonly headers: string[]
  /** Whether the client must see each chunk at once, because the length of the body is unknown. */
  readonly isStream: boolean
}

/** A shorter body would not be smaller. */
const leastBytes = 1024
const prefix = 'application/'
/** The types below it that compress, besides all that end in `+json` and `+xml`. */
const names: ReadonlySet<string> = new Set([
  ...['json', 'javascript', 'x-javascript', 'ecmascript', 'xml', 'wasm', 'x-ndjson', 'graphql', 'rtf', 'yaml'],
  ...['x-yaml', 'x-www-form-urlencoded', 'vnd.ms-fontobject', 'sql', 'toml'],
])
/** Statuses whose responses have no body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205])
/** Headers that are about the bytes of the body. */
const aboutBytes: ReadonlySet<string> = new Set(['content-range', 'content-md5', 'digest', 'content-digest'])

/**
 * Returns how a response is sent. Undefined if compression does not concern it. `mayCompress` says
 * whether the router has room for one more compressor. Pure.
 */
export function compressionOf(answered: Answered, mayCompress: boolean): Compression | undefined {
  const { status, headers, acceptEncoding, cacheControl, method } = answered
  const facts = factsOf(headers)
  if (status < 200 || withoutBody.has(status) || method === 'CONNECT') return undefined
  if (facts.isCoded || forbids(facts.cacheControl) || forbids(cacheControl)) return undefined
  if (status === 304) return unchanged(headers, facts, chooseCoding(acceptEncoding))
  if (!compresses(facts.type)) return undefined
  if (status === 206) return { coding: undefined, isStream: false, headers: withVary(headers) }
  if (facts.isFixed) return undefined
  const length = facts.length === undefined ? undefined : Number(facts.length)
  if (length !== undefined && !(length >= leastBytes)) return undefined
  const coding = mayCompress ? chooseCoding(acceptEncoding) : undefined
  const varied = withVary(headers)
  return { coding, isStream: length === undefined, headers: coding ? withCoding(varied, coding) : varied }
}

/**
 * Returns the headers of a response that says that a stored one is unchanged. They vary as the
 * stored one does, and have its tag. Most such responses do not say their type.
 */
function unchanged(headers: readonly string[], { type }: Facts, coding: Coding | undefined): Compression | undefined {
  if (type !== '' && !compresses(type)) return undefined
  const varied = withVary(headers)
  return { coding: undefined, isStream: false, headers: coding ? withWeakTag(varied) : varied }
}

interface Facts {
  readonly type: string
  readonly length: string | undefined
  readonly cacheControl: string
  /** Whether the endpoint has chosen a coding, or said more than one type. */
  readonly isCoded: boolean
  /** Whether the bytes of the body must not change. */
  readonly isFixed: boolean
}

function factsOf(headers: readonly string[]): Facts {
  const valuesOf = (wanted: string): string[] =>
    headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === wanted)
  const [type = '', ...types] = valuesOf('content-type')
  const isFixed = headers.some((name, index) => index % 2 === 0 && aboutBytes.has(name.toLowerCase()))
  const isCoded = valuesOf('content-encoding').some((one) => one.trim().toLowerCase() !== 'identity')
  return {
    type: (type.split(';', 1)[0] ?? '').trim().toLowerCase(),
    length: valuesOf('content-length')[0],
    cacheControl: valuesOf('cache-control').join(','),
    isCoded: isCoded || types.length > 0,
    isFixed,
  }
}

function compresses(type: string): boolean {
  if (type.startsWith('text/') || type === 'image/svg+xml') return true
  if (!type.startsWith(prefix)) return false
  return type.endsWith('+json') || type.endsWith('+xml') || names.has(type.slice(prefix.length))
}

const forbids = (cacheControl: string | undefined): boolean =>
  cacheControl?.split(',').some((one) => one.trim().toLowerCase() === 'no-transform') ?? false

/** Caches must keep a response for each kind of `Accept-Encoding`. */
function withVary(headers: readonly string[]): string[] {
  const known = headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'vary')
  const names = known.flatMap((value) => value.split(',').map((one) => one.trim().toLowerCase()))
  return names.includes('*') || names.includes('accept-encoding')
    ? [...headers]
    : [...headers, 'Vary', 'Accept-Encoding']
}

/** Ranges and the length belong to the unchanged body. */
const dropped: ReadonlySet<string> = new Set(['content-length', 'content-encoding', 'accept-ranges'])

function withCoding(headers: readonly string[], coding: Coding): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = '', value = ''] = [headers[index], headers[index + 1]]
    const lower = name.toLowerCase()
    if (dropped.has(lower)) continue
    kept.push(name, value)
  }
  return [...withWeakTag(kept), 'Content-Encoding', coding]
}

/** The bytes differ, and the meaning does not (RFC 9110, 8.8.1). */
const withWeakTag = (headers: readonly string[]): string[] =>
  headers.map((value, index) =>
    index % 2 === 1 && value.startsWith('"') && headers[index - 1]?.toLowerCase() === 'etag' ? `W/${value}` : value,
  )
