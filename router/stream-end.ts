import { constants, type Http2Stream } from 'node:http2'

/**
 * Returns a function that returns whether the other side has sent all it had to send. Node.js ends
 * a stream that was reset without an error code, or whose connection has ended, in the same way as
 * a complete one.
 */
export function watchEnd(stream: Http2Stream): () => boolean {
  let isWhole = stream.state.state === constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE
  const push = stream.push.bind(stream)
  // Node.js marks a stream as closed before it ends it by itself.
  stream.push = (chunk, encoding) => {
    if (chunk === null && !stream.closed) isWhole = true
    return push(chunk, encoding)
  }
  return () => isWhole
}
