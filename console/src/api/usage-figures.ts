import type { Metrics } from '@quayside/contract/resources/stream.ts'

/** The use of one replica at one moment, as the API sends it. */
export type Usage = typeof Metrics.static

/** The figures of one replica, oldest first. Times are seconds since 1970. */
export interface ReplicaUsage {
  readonly pod: string
  readonly times: readonly number[]
  readonly cpu: readonly number[]
  readonly memory: readonly number[]
  readonly last: Usage
}

/** Ten minutes, with a figure every five seconds. */
const mostFigures = 120
/** A replica that has sent nothing for so long is gone. */
const goneAfterSeconds = 30

/** Pure: the figures with one more. Replicas that are gone are left out. */
export function addUsage(known: readonly ReplicaUsage[], usage: Usage, atSeconds: number): readonly ReplicaUsage[] {
  const before = known.find(({ pod }) => pod === usage.pod_name)
  const add = (list: readonly number[] | undefined, value: number) => [...(list ?? []), value].slice(-mostFigures)
  const next: ReplicaUsage = {
    pod: usage.pod_name,
    times: add(before?.times, atSeconds),
    cpu: add(before?.cpu, usage.cpu.current),
    memory: add(before?.memory, usage.memory.current),
    last: usage,
  }
  const others = known.filter(
    ({ pod, times }) => pod !== next.pod && atSeconds - (times.at(-1) ?? 0) < goneAfterSeconds,
  )
  return [...others, next].sort((a, b) => (a.pod < b.pod ? -1 : 1))
}
