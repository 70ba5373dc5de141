import { useEffect, useState } from 'react'
import type { Machine } from './cluster-nodes.ts'
import { followSocket } from './socket.ts'

interface Place {
  readonly organizationId: string
  readonly clusterId: string
}

/** Follows the machines of a cluster. Undefined until the first report. */
export function useMachines({ organizationId, clusterId }: Place): readonly Machine[] | undefined {
  const [machines, setMachines] = useState<readonly Machine[]>()
  useEffect(
    () =>
      followSocket({
        path: '/cluster/metrics',
        query: () => ({ organization: organizationId, cluster: clusterId }),
        // The contract describes the message.
        onMessage: (message) => setMachines(Object(message).nodes),
      }),
    [organizationId, clusterId],
  )
  return machines
}

/** The services of a cluster that run, and all that should. */
export interface Running {
  readonly running: number
  readonly wrong: number
}

const lists = ['applications', 'containers', 'databases', 'jobs', 'helms', 'terraform'] as const

/** Follows the running services of a cluster. Undefined until the first report. */
export function useRunning({ organizationId, clusterId }: Place): Running | undefined {
  const [states, setStates] = useState<ReadonlyMap<string, readonly string[]>>()
  useEffect(
    () =>
      followSocket({
        path: '/service/status',
        query: () => ({ organization: organizationId, cluster: clusterId }),
        onMessage: (message) => setStates((known) => withStates(known ?? new Map(), message)),
      }),
    [organizationId, clusterId],
  )
  if (!states) return undefined
  const all = [...states.values()].flat()
  return {
    running: all.filter((state) => state === 'RUNNING').length,
    wrong: all.filter((state) => state === 'ERROR' || state === 'WARNING').length,
  }
}

/** Pure: the states of services by environment, after a message about some environments. */
export function withStates(known: ReadonlyMap<string, readonly string[]>, message: unknown) {
  const next = new Map(known)
  for (const environment of Object(message).environments ?? []) {
    const services = lists.flatMap((name): { state: string }[] => environment[name] ?? [])
    next.set(
      String(environment.id),
      services.map(({ state }) => state),
    )
  }
  return next
}
