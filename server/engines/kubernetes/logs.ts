import { Channel } from '../channel.ts'
import type { LogLine, LogQuery } from '../engine.ts'
import { mergeLines } from '../merge-lines.ts'
import { kinds } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { type ContainerRun, type PodState, toPodState } from './pod-state.ts'
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
    const containers = items.map(toPodState).flatMap(containersOf)
    const printed = new Map(containers.map(({ pod, run }) => [keyOf(pod, run), printedBy(pod, run.name, query.after)]))
    yield* mergeLines(containers.flatMap(({ pod, run }) => existing(host, run, printed.get(keyOf(pod, run)), signal)))
    if (query.follow) yield* later(host, { service, printed }, signal)
  } catch (error) {
    if (!outer.aborted) throw error
  } finally {
    end.abort()
  }
}

const containersOf = (pod: PodState) => pod.containers.map((run) => ({ pod, run }))
const keyOf = ({ name }: PodState, run: ContainerRun): string => `${name} ${run.name}`

/** The lines of a container up to now: those before its last restart first. */
function existing({ kube }: KubeHost, run: ContainerRun, printed: Printed | undefined, signal: AbortSignal) {
  if (!printed) return []
  async function* both(from: Printed): AsyncGenerator<LogLine> {
    if (run.exits > 0) yield* linesOf(kube, from, { follow: false, previous: true }, signal)
    yield* linesOf(kube, from, { follow: false }, signal)
  }
  return [both(printed)]
}

/** Follows every container that runs. A reader ends with it; a restart begins it again. */
async function* later(
  host: KubeHost,
  { service, printed }: { readonly service: string; readonly printed: Map<string, Printed> },
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const { kube, clock, instance } = host
  const lines = new Channel<LogLine>(mostWaiting, signal)
  const reading = new Set<string>()
  const finished = new Set<string>()
  const read = async (pod: PodState, run: ContainerRun): Promise<void> => {
    const key = keyOf(pod, run)
    const from = printed.get(key) ?? printedBy(pod, run.name)
    printed.set(key, from)
    const start = `${key} ${run.exits} ${run.running}`
    if (reading.has(key) || finished.has(start)) return
    reading.add(key)
    try {
      for await (const line of linesOf(kube, from, { follow: true }, signal)) await lines.push(line)
      if (!run.running) finished.add(start)
    } catch {
      // The connection broke, or the pod is gone. The next change shows which.
      await clock.sleep(retryMs, signal).catch(() => {})
    }
    reading.delete(key)
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
          for (const { pod, run } of [...pods.values()].flatMap(containersOf)) {
            if (run.running || run.exits > 0) void read(pod, run)
          }
        }
      } catch {
        await clock.sleep(retryMs, signal).catch(() => {})
      }
    }
  }
  void watch()
  yield* lines
}
