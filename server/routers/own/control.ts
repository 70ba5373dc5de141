import { startDeadline } from '../../lib/deadline.ts'
import { AppError } from '../../lib/error.ts'
import { type ControlAnswer, type ControlRequest, exchange } from '../control-answer.ts'

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
    return await exchange({ socketPath, agent: false }, question, deadline.signal)
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    const why = deadline.isOver ? `did not answer within ${timeoutMs / 1000} s` : 'cannot be reached'
    throw new AppError('unavailable', `The router process ${why}; it is restarted when it is gone.`, {
      cause,
      details: { socketPath, path: question.path },
    })
  }
}
