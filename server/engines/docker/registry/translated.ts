import { SafeFetchError } from '../../../lib/safe-stream.ts'
import { RegistryProblem } from '../registry-problem.ts'

const kinds = {
  address: 'address',
  tls: 'certificate',
  timeout: 'away',
  unreachable: 'away',
  request: 'other',
} as const

/** What went wrong on the way to a registry or while its answer was read; other errors are returned as they are. */
export function translated(error: unknown): unknown {
  if (!(error instanceof SafeFetchError)) return error
  return new RegistryProblem(kinds[error.reason], error.message.replace(/\.$/, ''), { cause: error })
}
