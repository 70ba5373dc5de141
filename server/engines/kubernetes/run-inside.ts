import { KubeError, type Pod } from './client/index.ts'
import type { KubeHost } from './host.ts'

/**
 * Runs a line of a shell in a container of a pod, whose output says nothing. Returns its exit code,
 * or why it could not run. Undefined: the connection broke.
 */
export async function runInside(
  { kube }: Pick<KubeHost, 'kube'>,
  { metadata }: Pick<Pod, 'metadata'>,
  { container, command }: { readonly container: string; readonly command: string },
  signal: AbortSignal,
): Promise<number | undefined | KubeError> {
  const place = { namespace: metadata.namespace ?? '', pod: metadata.name, container }
  try {
    const running = await kube.exec(place, ['/bin/sh', '-c', command], { hasTerminal: false, hasInput: false }, signal)
    running.stdout.resume()
    running.stderr.resume()
    return await running.exitCode()
  } catch (error) {
    if (error instanceof KubeError) return error
    throw error
  }
}
