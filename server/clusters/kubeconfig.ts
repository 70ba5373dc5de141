import { AppError } from '../lib/error.ts'
import { inWorker, OverLimit } from '../lib/in-worker.ts'

const module = new URL('kubeconfig-problem.ts', import.meta.url)

/** Throws 400 unless the text is YAML in the form that clients of Kubernetes read. */
export async function checkKubeconfig(text: string): Promise<void> {
  const problem = await inWorker({ module, name: 'kubeconfigProblem', argument: text }).catch((error: unknown) => {
    if (error instanceof OverLimit) return `The body takes ${error.message} to read. Send a simpler kubeconfig.`
    throw error
  })
  if (typeof problem === 'string') throw new AppError('invalid', problem)
}
