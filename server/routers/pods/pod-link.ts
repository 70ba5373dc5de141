import { Agent, type RequestOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { startDeadline } from '../../lib/deadline.ts'
import { AppError, messageOf } from '../../lib/error.ts'
import { printable } from '../../lib/text.ts'
import { type ControlAnswer, type ControlRequest, exchange, StaleConnectionError } from '../control-answer.ts'

/** A kept connection may have been closed. So many of them can be idle. */
const mostIdle = 2

/** Sends control requests to the router of one pod, over connections that are kept. */
export class PodLink {
  readonly #name: string
  readonly #agent: LinkAgent
  readonly #key: () => Promise<string>
  readonly #closing = new AbortController()

  constructor(
    name: string,
    connect: (signal: AbortSignal) => Promise<Duplex>,
    /** Returns the key of the control plane. */
    key: () => Promise<string>,
  ) {
    this.#name = name
    this.#agent = new LinkAgent(() => connect(this.#closing.signal))
    this.#key = key
  }

  /**
   * Sends a request, again if a kept connection broke. Throws `unavailable` without an answer in
   * time, or the signal's reason.
   */
  async ask(question: ControlRequest): Promise<ControlAnswer> {
    const { signal, timeoutMs } = question
    signal?.throwIfAborted()
    const deadline = startDeadline(timeoutMs, signal)
    try {
      const headers = { authorization: `Bearer ${await this.#key()}` }
      return await this.#exchange({ agent: this.#agent, host: 'router', headers }, question, deadline.signal)
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      const why = deadline.isOver ? `did not answer within ${timeoutMs / 1000} s` : `failed: ${messageOf(cause)}`
      const message = `The router in pod ${this.#name} of the cluster cannot be reached: the connection ${why}.`
      throw new AppError('unavailable', printable(message), { cause, details: { path: question.path } })
    }
  }

  async #exchange(where: RequestOptions, question: ControlRequest, signal: AbortSignal): Promise<ControlAnswer> {
    for (let left = mostIdle; ; left--) {
      try {
        return await exchange(where, question, signal)
      } catch (error) {
        if (!(error instanceof StaleConnectionError) || left === 0 || signal.aborted) throw error
      }
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#closing.abort(new Error('the pod is gone'))
    this.#agent.destroy()
  }
}

class LinkAgent extends Agent {
  readonly #connect: () => Promise<Duplex>

  constructor(connect: () => Promise<Duplex>) {
    super({ keepAlive: true, maxFreeSockets: mostIdle })
    this.#connect = connect
  }

  override createConnection(
    _options: unknown,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    this.#connect().then(
      (stream) => done?.(null, likeSocket(stream)),
      // A failed connection has no stream.
      (error: Error) => done?.(error, undefined as unknown as Duplex),
    )
    return undefined
  }
}

/** Agents call these methods of sockets. They have no meaning for a stream through a server. */
const likeSocket = (stream: Duplex): Duplex =>
  Object.assign(stream, { setKeepAlive: same, setNoDelay: same, setTimeout: same, ref: same, unref: same })

function same<T>(this: T): T {
  return this
}
