import { Channel } from '../channel.ts'
import type { LogLine, LogQuery } from '../engine.ts'
import { mergeLines } from '../merge-lines.ts'
import { kinds } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { type PodState, toPodState } from './pod-state.ts'
import { linesOf, type Printed, printedBy } from './printed.ts'

/** The most lines that wait for the consumer. */
const mostWaiting = 1_000
const retryMs = 1_000

/**
 * Returns the lines of all pods of the service. Existing lines are in order of time. Later lines
 * follow as they arrive.
 */
export async function* serviceLogs(
  host: KubeHost,
  service: string,
  query: LogQuery,
  outer: AbortSignal,
): AsyncGenerator<LogLine> {
  const end = new AbortController()
  const signal = AbortSignal.any([outer, end.signal])
  const selection = { labels: ownLabels(host.instance, { [label.service]: service }) }
  try {
    const { items } = await host.kube.list(kinds.pod, selection, signal)
    const printed = new Map(items.map(toPodState).map((pod) => [pod.name, printedBy(pod, query.after)]))
    const pods = items.map(toPodState)
    yield* mergeLines(pods.flatMap((pod) => existing(host, pod, printed.get(pod.name), signal)))
    if (query.follow) yield* later(host, { service, printed }, signal)
  } catch (error) {
    if (!outer.aborted) throw error
  } finally {
    end.abort()
  }
}

/** The lines of a pod up to now: those before its last restart first. */
function existing({ kube }: KubeHost, pod: PodState, printed: Printed | undefined, signal: AbortSignal) {
  if (!printed) return []
  async function* both(from: Printed): AsyncGenerator<LogLine> {
    if (pod.exits > 0) yield* linesOf(kube, from, { follow: false, previous: true }, signal)
    yield* linesOf(kube, from, { follow: false }, signal)
  }
  return [both(printed)]
}

/** Follows every pod that runs. A reader ends with its container; a restart begins it again. */
async function* later(
  host: KubeHost,
  { service, printed }: { readonly service: string; readonly printed: Map<string, Printed> },
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const { kube, clock, instance } = host
  const lines = new Channel<LogLine>(mostWaiting, signal)
  const reading = new Set<string>()
  const finished = new Set<string>()
  const read = async (pod: PodState): Promise<void> => {
    const from = printed.get(pod.name) ?? printedBy(pod)
    printed.set(pod.name, from)
    const start = `${pod.name} ${pod.exits} ${pod.running}`
    if (reading.has(pod.name) || finished.has(start)) return
    reading.add(pod.name)
    try {
      for await (const line of linesOf(kube, from, { follow: true }, signal)) await lines.push(line)
      if (!pod.running) finished.add(start)
    } catch {
      // The connection broke, or the pod is gone. The next change shows which.
      await clock.sleep(retryMs, signal).catch(() => {})
    }
    reading.delete(pod.name)
  }
  const watch = async (): Promise<void> => {
    const wish = {
      kind: kinds.pod,
      selection: { labels: ownLabels(instance, { [label.service]: service }) },
      reduce: toPodState,
    }
    while (!signal.aborted) {
      try {
        for await (const pods of followObjects(host, wish, signal)) {
          for (const pod of pods.values()) if (pod.running || pod.exits > 0) void read(pod)
        }
      } catch {
        await clock.sleep(retryMs, signal).catch(() => {})
      }
    }
  }
  void watch()
  yield* lines
}
