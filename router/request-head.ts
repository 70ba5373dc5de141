import { doorHeader } from '@quayside/contract/routes.ts'
import type { SignInClaims } from '@quayside/contract/sign-in.ts'
import { addSender, type Forwarded, isSenderName, noteForwarded, type Peer } from './sender.ts'

/** The result of one pass over the raw headers of a request. */
export interface RequestHead {
  /** The first Host header, as sent. */
  readonly host: string | undefined
  /** The headers for the endpoint without Host, as alternating names and values. */
  readonly forwarded: string[]
  readonly hasBody: boolean
  /** The address of the client, seen through trusted proxies. */
  readonly client: string
  /** Whether the client used HTTPS. */
  readonly isSecure: boolean
  /** The value of `Upgrade` if the request asks for an upgrade. */
  readonly upgrade: string | undefined
  /** Why the request is answered with 400. Undefined if it is valid. */
  readonly refusal: string | undefined
  /** Who is signed in, once the route's rule has admitted the person. */
  person?: SignInClaims
}

type Meaning = 'host' | 'connection' | 'length' | 'coding' | 'upgrade' | 'once' | 'drop' | 'sender' | 'pass'

/**
 * Names that programs cannot confuse with others. CGI and its descendants turn `-` and every other
 * special character into `_`, so `X_Real_IP` would arrive as `X-Real-IP`.
 */
const plainName = /^[a-z0-9-]+$/

/**
 * Headers about one connection or about the sender. Others with plain names are forwarded
 * unchanged.
 */
const meanings = new Map<string, Meaning>([
  ['host', 'host'],
  ['connection', 'connection'],
  ['content-length', 'length'],
  ['transfer-encoding', 'coding'],
  ['upgrade', 'upgrade'],
  ['keep-alive', 'drop'],
  ['proxy-connection', 'drop'],
  ['proxy-authorization', 'drop'],
  ['te', 'drop'],
  ['trailer', 'drop'],
  ['expect', 'drop'],
  ['http2-settings', 'drop'],
  // The router does not write these headers, so it cannot vouch for them.
  ['forwarded', 'drop'],
  ['x-real-ip', 'drop'],
  [doorHeader, 'drop'],
  // CGI programs would read it as the variable HTTP_PROXY.
  ['proxy', 'drop'],
  // The endpoint must read the same password that the router checked.
  ['authorization', 'once'],
])

function meaningOf(lower: string): Meaning {
  const known = meanings.get(lower)
  if (known !== undefined) return known
  if (isSenderName(lower)) return 'sender'
  return plainName.test(lower) ? 'pass' : 'drop'
}

/** Whether endpoints get a header of this name unchanged from any client. */
export const isPassedName = (lower: string): boolean => meaningOf(lower) === 'pass'

/** The headers of most requests, as clients spell them. A single lookup finds their meaning. */
const usualNames = [
  ...['Accept', 'Accept-Encoding', 'Accept-Language', 'Authorization', 'Cache-Control', 'Connection', 'Content-Length'],
  ...['Content-Type', 'Cookie', 'Host', 'If-Modified-Since', 'If-None-Match', 'Origin', 'Pragma', 'Priority', 'Range'],
  ...['Referer', 'Sec-Fetch-Dest', 'Sec-Fetch-Mode', 'Sec-Fetch-Site', 'Sec-Fetch-User', 'Upgrade-Insecure-Requests'],
  ...['User-Agent', 'X-Requested-With', 'sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform'],
]
const usual = new Map(
  usualNames.flatMap((name) => {
    const lower = name.toLowerCase()
    return [name, lower].map((spelling): [string, Meaning] => [spelling, meaningOf(lower)])
  }),
)

/**
 * Reads and filters the raw headers of a request. Rejects headers that two programs might read
 * differently.
 */
export function readRequestHead(raw: readonly string[], target: string, version: string, peer: Peer): RequestHead {
  const scan = scanHeaders(raw, peer.trusts !== undefined)
  const { host, forwarded, upgrade, connection } = scan
  if (connection !== '' && connection !== 'keep-alive') dropNominated(forwarded, connection)
  const { client, isSecure } = addSender(forwarded, host ?? '', peer, scan.said)
  const hasBody = scan.codings > 0 || (scan.length !== undefined && scan.length !== '0')
  return {
    host,
    forwarded,
    hasBody,
    client,
    isSecure,
    upgrade: upgrade !== undefined && lists(connection, 'upgrade') ? upgrade : undefined,
    refusal: refusalOf(scan, target, version),
  }
}

interface Scan {
  host: string | undefined
  hosts: number
  connection: string
  length: string | undefined
  lengths: number
  coding: string
  codings: number
  upgrade: string | undefined
  authorizations: number
  readonly said: Forwarded
  readonly forwarded: string[]
}

function scanHeaders(raw: readonly string[], trusted: boolean): Scan {
  const scan: Scan = {
    host: undefined,
    hosts: 0,
    connection: '',
    length: undefined,
    lengths: 0,
    coding: '',
    codings: 0,
    upgrade: undefined,
    authorizations: 0,
    said: { forwardedFor: '', proto: '', host: '', port: '' },
    forwarded: [],
  }
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    const meaning = usual.get(name) ?? meaningOf(name.toLowerCase())
    if (meaning === 'pass') scan.forwarded.push(name, value)
    else note(scan, meaning, { name, value }, trusted)
  }
  return scan
}

type Header = { readonly name: string; readonly value: string }

function note(scan: Scan, meaning: Meaning, { name, value }: Header, trusted: boolean): void {
  switch (meaning) {
    case 'pass':
      scan.forwarded.push(name, value)
      break
    case 'host':
      scan.hosts++
      scan.host ??= value
      break
    case 'connection':
      scan.connection += scan.connection === '' ? value : `,${value}`
      break
    case 'length':
      scan.lengths++
      scan.length = value
      scan.forwarded.push(name, value)
      break
    case 'coding':
      scan.codings++
      scan.coding = value
      break
    case 'upgrade':
      scan.upgrade = value
      break
    case 'sender': {
      const lower = name.toLowerCase()
      if (trusted && plainName.test(lower) && noteForwarded(scan.said, lower, value)) scan.forwarded.push(name, value)
      break
    }
    case 'once':
      scan.authorizations++
      scan.forwarded.push(name, value)
      break
    case 'drop':
      break
  }
}

function refusalOf(scan: Scan, target: string, version: string): string | undefined {
  if (scan.hosts !== 1 || !scan.host) return 'exactly one Host header is required'
  if (scan.authorizations > 1) return 'the header Authorization must be sent once'
  if (target.charCodeAt(0) !== 0x2f) return 'the request target must be a path'
  if (target.includes('#')) return 'the request target must not have a fragment'
  if (scan.codings > 0) {
    if (scan.lengths > 0) return 'Content-Length and Transfer-Encoding exclude each other'
    if (scan.codings > 1 || scan.coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding must be "chunked"'
    if (version !== '1.1') return 'Transfer-Encoding requires HTTP/1.1'
  }
  if (scan.lengths > 1 || (scan.length !== undefined && !/^\d{1,15}$/.test(scan.length))) {
    return 'Content-Length must be one whole number'
  }
  return undefined
}

/**
 * Removes the headers that `Connection` names. Content-Length stays because the router relies on
 * it.
 */
function dropNominated(headers: string[], connection: string): void {
  const names = connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  if (names.every((name) => name === 'keep-alive' || name === 'close' || name === 'upgrade')) return
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    const name = headers[index]?.toLowerCase() ?? ''
    if (name !== 'content-length' && names.includes(name)) headers.splice(index, 2)
  }
}

const lists = (value: string, token: string): boolean =>
  value
    .toLowerCase()
    .split(',')
    .some((each) => each.trim() === token)
