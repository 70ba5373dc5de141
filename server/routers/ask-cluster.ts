import { unreachable } from './ingress/apply-objects.ts'
import { statusOf } from './ingress/kube-objects.ts'

/** Does work with a cluster. Translates the errors of its API server. */
export async function askCluster<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    throw statusOf(error) === undefined ? error : unreachable(error)
  }
}
