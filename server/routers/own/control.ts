import { request } from 'node:http'
import { startDeadline } from '../../lib/deadline.ts'
import { AppError } from '../../lib/error.ts'

export interface ControlRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

export interface ControlAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Sends one request to the router process over its control socket. Throws `unavailable` if it does
 * not answer in time. The cause has the system's code; `ENOENT` and `ECONNREFUSED` mean that
 * nothing listens. Rejects with the signal's reason on abort.
 */
export async function askRouter(socketPath: string, question: ControlRequest): Promise<ControlAnswer> {
  const { signal, timeoutMs } = question
  signal?.throwIfAborted()
  const deadline = startDeadline(timeoutMs, signal)
  try {
    return await exchange(socketPath, question, deadline.signal)
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    const why = deadline.isOver ? `did not answer within ${timeoutMs / 1000} s` : 'cannot be reached'
    throw new AppError('unavailable', `The router process ${why}; it is restarted when it is gone.`, {
      cause,
      details: { socketPath, path: question.path },
    })
  }
}

function exchange(
  socketPath: string,
  { method, path, body }: ControlRequest,
  signal: AbortSignal,
): Promise<ControlAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ControlAnswer>()
  const outgoing = request({ socketPath, method, path, agent: false, signal }, (answer) => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('error', reject)
    answer.on('end', () => {
      try {
        resolve({ status: answer.statusCode ?? 0, body: parseObject(Buffer.concat(chunks).toString('utf8')) })
      } catch (error) {
        reject(error)
      }
    })
  })
  outgoing.on('error', reject)
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error('the router answered something else than an object')
  return { ...value }
}
