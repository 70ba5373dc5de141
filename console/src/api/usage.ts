import { useEffect, useState } from 'react'
import type { ServicePlace } from './follow-lines.ts'
import { followSocket } from './socket.ts'
import { addUsage, type ReplicaUsage, type Usage } from './usage-figures.ts'

/** Follows the use of resources of a service as long as the component is there. */
export function useUsage({ organization, cluster, project, environment, service }: ServicePlace, type: string) {
  const [usage, setUsage] = useState<readonly ReplicaUsage[]>([])
  const [problem, setProblem] = useState('')
  useEffect(() => {
    setUsage([])
    return followSocket({
      path: '/service/metrics',
      query: () => ({ organization, cluster, project, environment, service, service_type: type }),
      // The API sends what the contract says.
      onMessage: (message) => setUsage((known) => addUsage(known, message as Usage, Date.now() / 1000)),
      onEnd: setProblem,
    })
  }, [organization, cluster, project, environment, service, type])
  return { usage, problem }
}
