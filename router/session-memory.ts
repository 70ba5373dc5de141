import { executionAsyncResource } from 'node:async_hooks'
import type { Http2Session, Http2Stream } from 'node:http2'

/**
 * The memory of an HTTP/2 session outside of JavaScript. Node.js ends the whole process if it frees
 * a session before a stream of it that has received a part of a header block. One run of the
 * garbage collector frees both in any order, so the session must survive that run.
 */
export class SessionMemory {
  #memory: object | undefined

  constructor(session: Http2Session) {
    // The listener runs in the context of the object that owns the memory.
    session.once('remoteSettings', () => {
      this.#memory = executionAsyncResource()
    })
  }

  /** Keeps the session until a stream of it is freed. Must be called before the stream closes. */
  outlive(stream: Http2Stream): void {
    stream.once('close', () => {
      if (this.#memory && !stream.readableEnded) streams.register(stream, this.#memory)
    })
  }
}

/** Streams that ended early. It holds their sessions. */
const streams = new FinalizationRegistry<object>(() => {})
