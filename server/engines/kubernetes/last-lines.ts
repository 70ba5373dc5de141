import type { Release } from '../engine.ts'
import { beginningOf } from './beginning-of.ts'
import { isKubeError, kinds } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { labelsOf } from './manifests.ts'
import { namespaceOf } from './names.ts'
import { type PodState, toPodState } from './pod-state.ts'

const shown = 20
const mostBytes = 256 * 1024

/** Returns the last lines of a replica of a release: of one that failed, if there is one. */
export async function lastLines(host: KubeHost, release: Release, signal: AbortSignal): Promise<string[]> {
  const selection = { namespace: namespaceOf(release.environment), labels: labelsOf(release, host.instance) }
  const { items } = await host.kube.list(kinds.pod, selection, signal)
  const pods = items.map(toPodState)
  const pod = pods.find(({ exits }) => exits > 0) ?? pods.find(({ isReady }) => !isReady) ?? pods[0]
  return pod ? lastLinesOf(host, pod, signal) : []
}

/** Returns the last lines of a pod: of its program before the last restart if it has none now. */
export async function lastLinesOf(host: KubeHost, pod: PodState, signal: AbortSignal): Promise<string[]> {
  const current = await linesOfPod(host, pod, false, signal)
  return current.length > 0 || pod.exits === 0 ? current : linesOfPod(host, pod, true, signal)
}

/** Returns the last lines of a pod, or of its program before the last restart. */
export async function linesOfPod(
  { kube }: KubeHost,
  { namespace, name, container }: PodState,
  previous: boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const place = { namespace, pod: name, container }
  try {
    const wish = { follow: false, previous, tailLines: shown, limitBytes: mostBytes }
    const lines = await beginningOf(await kube.log(place, wish, signal), mostBytes)
    // Each line begins with its time. The database keeps no NUL.
    return lines
      .toString()
      .replaceAll('\0', '\uFFFD')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : line.slice(line.indexOf(' ') + 1)))
  } catch (error) {
    // A container that never started has printed nothing.
    if (isKubeError(error, 400, 404)) return []
    throw error
  }
}
