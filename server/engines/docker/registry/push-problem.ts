import { startDeadline } from '../../../lib/deadline.ts'
import { EngineError, type RegistryTarget } from '../../engine.ts'
import { parseReference } from '../image-reference.ts'
import { type ProblemKind, pushProblemText, RegistryProblem } from '../registry-problem.ts'
import { type RegistryTools, targetOf } from './registries.ts'
import { tryUpload } from './upload.ts'

/** How long a registry may take to answer a check. */
const patienceSeconds = 20

/**
 * Returns why images cannot be pushed to a repository now, with what to do. Undefined if they can.
 */
export async function pushProblem(
  registries: Pick<RegistryTools, 'open' | 'clock' | 'settings'>,
  target: RegistryTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reference = parseReference(target.repository)
  const deadline = startDeadline(patienceSeconds * 1000, signal)
  const problem = (kind: ProblemKind, said: string) => pushProblemText(kind, reference.name, reference.host, said)
  try {
    await tryUpload(await targetOf(registries, reference, target.login, deadline.signal), deadline.signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.isOver) return problem('away', `no answer within ${patienceSeconds} s`)
    if (error instanceof EngineError) return error.message
    if (!(error instanceof RegistryProblem)) throw error
    return problem(error.kind, error.message)
  }
}
