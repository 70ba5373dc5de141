import { useQuery } from '@tanstack/react-query'
import { useMachines, useRunning } from '../../api/cluster-room.ts'
import { type Cluster, diskUsage } from '../../api/reads-clusters.ts'
import { bytes, cores, gibibytes } from '../../ui/amounts.ts'
import { Meter } from '../../ui/Meter.tsx'
import styles from './Clusters.module.css'

interface ClusterRoomProps {
  readonly organizationId: string
  readonly cluster: Cluster
}

/** The room of a cluster: the use of its machines, of its disk, and the services that run. */
export function ClusterRoom({ organizationId, cluster }: ClusterRoomProps) {
  const place = { organizationId, clusterId: cluster.id }
  const machines = useMachines(place)
  const services = useRunning(place)
  return (
    <section className={styles['room']} aria-label={`Room of ${cluster.name}`}>
      <Use label="CPU" machines={machines?.map(cpuOf)} limit={cluster.cpu} words={cores} />
      <Use label="Memory" machines={machines?.map(memoryOf)} limit={cluster.memory} words={gibibytes} />
      {cluster.is_demo && <Disk {...place} />}
      <Meter label="Services" share={undefined} words={services ? runningWords(services) : '…'} />
    </section>
  )
}

type Machines = NonNullable<ReturnType<typeof useMachines>>
interface Amount {
  readonly used: number
  readonly all: number
}
const cpuOf = ({ resources_capacity: all, metrics_usage: used }: Machines[number]): Amount => ({
  used: used.cpu_milli_usage,
  all: all.cpu_milli,
})
const memoryOf = ({ resources_capacity: all, metrics_usage: used }: Machines[number]): Amount => ({
  used: used.memory_mib_working_set_usage,
  all: all.memory_mib,
})

interface UseProps {
  readonly label: string
  readonly machines: readonly Amount[] | undefined
  /** The capacity of the cluster, for one whose use is not read. 0 if it is unknown. */
  readonly limit: number
  readonly words: (amount: number) => string
}

function Use({ label, machines, limit, words }: UseProps) {
  const used = machines?.reduce((sum, one) => sum + one.used, 0) ?? 0
  const all = machines?.reduce((sum, one) => sum + one.all, 0) ?? 0
  if (all > 0) return <Meter label={label} share={used / all} words={`${words(used)} of ${words(all)}`} />
  return <Meter label={label} share={undefined} words={limit > 0 ? words(limit) : 'unknown'} />
}

function Disk(place: { readonly organizationId: string; readonly clusterId: string }) {
  const { data } = useQuery(diskUsage(place))
  if (!data) return null
  const { disk_bytes: all, disk_free_bytes: free } = data
  return <Meter label="Disk" share={1 - free / all} words={`${bytes(all - free)} of ${bytes(all)}`} />
}

const runningWords = ({ running, wrong }: NonNullable<ReturnType<typeof useRunning>>): string =>
  wrong > 0 ? `${running} run, ${wrong} with a problem` : `${running} run`
