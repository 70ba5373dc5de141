import { AppError } from '../lib/error.ts'
import { inWorker, OverLimit } from '../lib/in-worker.ts'
import { Secret } from '../lib/secret.ts'
import type { KubeconfigAccess, KubeconfigReading } from './kubeconfig-problem.ts'

const module = new URL('kubeconfig-problem.ts', import.meta.url)

/** How to reach a cluster. The texts that prove who asks are secret. */
export interface ClusterAccess extends Omit<KubeconfigAccess, 'token' | 'key'> {
  readonly token?: Secret | undefined
  readonly key?: Secret | undefined
  /** Reads a token that changes. Called for every request. */
  readonly readToken?: () => Promise<Secret>
}

/**
 * Reads a kubeconfig. Throws 400 unless it is one, and has only what the platform uses.
 * `allowsHost` decides whether the server may connect to a host; names are checked again at every
 * connection.
 */
export async function readAccess(text: string, allowsHost: (host: string) => boolean): Promise<ClusterAccess> {
  const reading = await inWorker({ module, name: 'readKubeconfig', argument: text }).catch((error: unknown) => {
    if (error instanceof OverLimit) {
      throw new AppError('invalid', `The body takes ${error.message} to read. Send a simpler kubeconfig.`)
    }
    throw error
  })
  // The worker returns what the function returns.
  const read = reading as KubeconfigReading
  if ('problem' in read) throw new AppError('invalid', read.problem)
  const { token, key, ...access } = read.access
  const { hostname } = new URL(access.server)
  if (!allowsHost(hostname)) {
    throw new AppError(
      'invalid',
      `The address of "${hostname}" is not public. Use a public address, or ask the operator to list its network in ` +
        'QUAYSIDE_ALLOW_PRIVATE_TARGETS.',
    )
  }
  return {
    ...access,
    ...(token !== undefined && { token: new Secret(token) }),
    ...(key !== undefined && { key: new Secret(key) }),
  }
}
