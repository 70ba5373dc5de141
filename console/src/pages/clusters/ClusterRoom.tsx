import { useQuery } from '@tanstack/react-query'
import { type Machine, type Share, usedOf } from '../../api/cluster-nodes.ts'
import { useRunning } from '../../api/cluster-room.ts'
import { type Cluster, diskUsage } from '../../api/reads-clusters.ts'
import { bytes, cores, gibibytes } from '../../ui/amounts.ts'
import { Meter } from '../../ui/Meter.tsx'
import styles from './Clusters.module.css'

interface ClusterRoomProps {
  readonly organizationId: string
  readonly cluster: Cluster
  /** Undefined until the first report. */
  readonly machines: readonly Machine[] | undefined
}

/** The room of a cluster: the use of its machines, of its disk, and the services that run. */
export function ClusterRoom({ organizationId, cluster, machines }: ClusterRoomProps) {
  const place = { organizationId, clusterId: cluster.id }
  const services = useRunning(place)
  const used = machines?.flatMap((machine) => usedOf(machine) ?? [])
  return (
    <section className={styles['room']} aria-label={`Room of ${cluster.name}`}>
      <Use label="CPU" parts={used?.map(({ cpu }) => cpu)} limit={cluster.cpu} words={cores} />
      <Use label="Memory" parts={used?.map(({ memory }) => memory)} limit={cluster.memory} words={gibibytes} />
      {cluster.is_demo && <Disk {...place} />}
      <Meter label="Services" share={undefined} words={services ? runningWords(services) : '…'} />
    </section>
  )
}

interface UseProps {
  readonly label: string
  readonly parts: readonly Share[] | undefined
  /** The capacity of the cluster, for one whose use is not read. 0 if it is unknown. */
  readonly limit: number
  readonly words: (amount: number) => string
}

function Use({ label, parts, limit, words }: UseProps) {
  const used = parts?.reduce((sum, { part }) => sum + part, 0) ?? 0
  const all = parts?.reduce((sum, { whole }) => sum + whole, 0) ?? 0
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
