import type { Route } from '@quayside/contract/routes.ts'
import { Answering } from './answering.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { CompressedAnswering } from './compressed-answering.ts'
import { type Compression, compressionOf } from './compression.ts'
import type { Compressors } from './compressors.ts'

/** The start of an endpoint's response, and the request for it. */
interface Begun {
  readonly request: ClientRequest
  readonly response: ClientResponse
  /** Undefined: the response is never compressed. */
  readonly compressing: { readonly route: Route; readonly compressors: Compressors } | undefined
  readonly status: number
  readonly headers: string[]
  /** How long the client may accept no bytes. */
  readonly stallMs: number | undefined
}

/** Returns how the body of a response reaches its client, and the headers for that. */
export function chooseAnswering(begun: Begun): {
  readonly answering: Answering | CompressedAnswering
  readonly headers: string[]
} {
  const { response, compressing, request, headers, stallMs } = begun
  const plain = new Answering(response, stallMs)
  const compression = compressing && compressionOfBegun(begun, compressing)
  if (!compression) return { answering: plain, headers }
  const { coding, isStream } = compression
  // A response to HEAD has the headers of one with a body, and no body.
  const isPlain = coding === undefined || request.method === 'HEAD'
  if (isPlain) return { answering: plain, headers: compression.headers }
  const compressor = compressing.compressors.open(compressing.route, coding)
  const answering = new CompressedAnswering(plain, response, { compressor, isStream })
  return { answering, headers: compression.headers }
}

function compressionOfBegun(
  { request, status, headers }: Begun,
  { route, compressors }: NonNullable<Begun['compressing']>,
): Compression | undefined {
  const { headers: asked, method = 'GET' } = request
  const { 'accept-encoding': acceptEncoding, 'cache-control': cacheControl } = asked
  return compressionOf({ status, method, headers, acceptEncoding, cacheControl }, compressors.hasRoom(route))
}
