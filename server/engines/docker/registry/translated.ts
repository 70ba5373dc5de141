import { SafeFetchError } from '../../../lib/safe-stream.ts'
import { RegistryProblem } from '../registry-problem.ts'

const kinds = {
  address: 'address',
  tls: 'certificate',
  timeout: 'away',
  unreachable: 'away',
  request: 'other',
} as const

/**
 * Converts an error of a request to a registry or of reading its answer; returns other errors
 * unchanged.
 */
export function translated(error: unknown): unknown {
  if (!(error instanceof SafeFetchError)) return error
  return new RegistryProblem(kinds[error.reason], error.message.replace(/\.$/, ''), { cause: error })
}
