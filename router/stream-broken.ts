import { constants } from 'node:http2'

/** The endpoint broke off a stream, or its connection ended. */
export class StreamBroken extends Error {
  override readonly name = 'StreamBroken'
  /** `ECONNRESET` is the code of a socket. */
  readonly code: 'ECONNRESET' | 'INVALID_HTTP2'
  /** Whether the endpoint says that it has not processed the request. */
  readonly isRefused: boolean

  constructor(code: number, { isRefused = false, isInvalid = false } = {}) {
    super(`the stream to the endpoint ended with code ${code}`)
    this.code = isInvalid ? 'INVALID_HTTP2' : 'ECONNRESET'
    this.isRefused = isRefused
  }
}

/** The endpoint has not processed the request, and says so. */
export const refused = (): StreamBroken => new StreamBroken(constants.NGHTTP2_REFUSED_STREAM, { isRefused: true })

/** Facts about a stream that ended before its response was complete. */
export interface StreamEnd {
  readonly code: number
  /** Whether the endpoint says that it has not processed this stream. */
  readonly isUnprocessed: boolean
  /** Whether a byte of the request's body has been read. */
  readonly isBodyRead: boolean
  /** Whether the endpoint has broken the rules of the connection, and not only of a stream. */
  readonly isConnectionInvalid: boolean
  /** Whether other requests were open over the connection. Any of them may be the reason. */
  readonly isShared: boolean
  /** Whether the endpoint has announced the end of its connection. */
  readonly isLeaving: boolean
}

/** Returns why a stream ended early. */
export function breakOf(end: StreamEnd): StreamBroken {
  const { code, isUnprocessed, isBodyRead, isConnectionInvalid, isShared, isLeaving } = end
  const isRefused = isUnprocessed && !isBodyRead
  const isInvalid = isConnectionInvalid ? !isShared : !isLeaving && invalid.has(code)
  return new StreamBroken(code, { isRefused, isInvalid: isInvalid && !isRefused })
}

/** A response that breaks the rules ends with one of these codes. The next try would as well. */
const invalid: ReadonlySet<number> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_STREAM_CLOSED,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
  constants.NGHTTP2_ENHANCE_YOUR_CALM,
])
