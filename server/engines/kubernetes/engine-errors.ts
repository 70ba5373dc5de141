import { EngineError } from '../engine.ts'
import { isKubeError, isPassing, KubeError } from './client/index.ts'

/** Runs a call of the engine. Errors of the API server become EngineError. */
export async function asEngineErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toEngineError(error)
  }
}

/** Returns the EngineError of an answer of the API server, and any other error unchanged. */
export function toEngineError(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error
  const cause = error
  const { message } = error
  if (isPassing(error)) return new EngineError('unreachable', `${message}; it is tried again`, { cause })
  if (isKubeError(error, 401, 'Certificate')) {
    const advice = error.status === 401 ? '; send a new one' : ''
    return new EngineError('refused', `the cluster does not accept the kubeconfig (${message})${advice}`, { cause })
  }
  return new EngineError('refused', `the cluster refused it: ${message}`, { cause })
}
