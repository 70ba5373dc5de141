import type { ServiceStatus } from '@quayside/contract/resources/stream.ts'
import { useEffect, useState } from 'react'
import type { ServicePlace } from './follow-lines.ts'
import { kindNames } from './kinds.ts'
import { followSocket } from './socket.ts'

type Environment = (typeof ServiceStatus.static)['environments'][number]
/** A replica of a service as the engine reports it. */
export type Replica = Environment['applications'][number]['pods'][number]

/** Follows the replicas of a service. Undefined until the first message. */
export function useReplicas(place: ServicePlace): readonly Replica[] | undefined {
  const [replicas, setReplicas] = useState<readonly Replica[]>()
  const { organization, cluster, project, environment, service } = place
  useEffect(() => {
    setReplicas(undefined)
    return followSocket({
      path: '/service/status',
      query: () => ({ organization, cluster, project, environment }),
      onMessage: (message) => setReplicas(replicasIn(message, service)),
    })
  }, [organization, cluster, project, environment, service])
  return replicas
}

/** Pure: the replicas of a service in a message. The lists of the message are named by kind. */
export function replicasIn(message: unknown, serviceId: string): readonly Replica[] {
  // The API sends what the contract says.
  const { environments } = message as typeof ServiceStatus.static
  return environments
    .flatMap((environment) => kindNames.flatMap((kind) => environment[lists[kind]]))
    .flatMap(({ id, pods }) => (id === serviceId ? pods : []))
}

const lists = {
  application: 'applications',
  container: 'containers',
  database: 'databases',
  job: 'jobs',
  helm: 'helms',
  terraform: 'terraform',
} as const
