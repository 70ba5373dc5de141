import { everyOne } from '../../../lib/every-one.ts'
import type { ChartPlace } from '../../engine.ts'
import { type Kind, type KubeObject, kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { annotation } from '../labels.ts'
import { chartLabels, helmRelease } from './chart-names.ts'
import { listChartPods } from './chart-pods.ts'

/** A label that no node has. */
const nowhere = 'quayside.io/stopped'
const pauseMs = 500

/** How the programs of a kind end and begin again. `held` is what was before. */
interface Scaling {
  readonly kind: Kind
  /** Undefined: nothing of it runs. */
  readonly held: (spec: Spec) => string | undefined
  readonly ended: object
  readonly resumed: (held: string) => object
}

interface Spec {
  readonly replicas?: number
  readonly suspend?: boolean
}

const byReplicas = (kind: Kind): Scaling => ({
  kind,
  held: ({ replicas = 1 }) => (replicas === 0 ? undefined : `${replicas}`),
  ended: { replicas: 0 },
  resumed: (held) => ({ replicas: Number(held) || 1 }),
})

const scalings: readonly Scaling[] = [
  byReplicas(kinds.deployment),
  byReplicas(kinds.statefulSet),
  byReplicas(kinds.replicaSet),
  {
    kind: kinds.daemonSet,
    held: () => 'true',
    ended: { template: { spec: { nodeSelector: { [nowhere]: 'true' } } } },
    resumed: () => ({ template: { spec: { nodeSelector: { [nowhere]: null } } } }),
  },
  {
    kind: kinds.cronJob,
    held: ({ suspend }) => (suspend ? undefined : 'false'),
    ended: { suspend: true },
    resumed: () => ({ suspend: false }),
  },
]

/** Ends all programs of a chart and waits until they have ended. Objects and volumes stay. */
export async function endPrograms(host: KubeHost, place: ChartPlace, signal: AbortSignal): Promise<void> {
  await eachScaled(host, place, signal, async ({ kind, held, ended }, object) => {
    const before = held(Object(Object(object).spec))
    if (before === undefined || heldOf(object) !== undefined) return
    const annotations = { [annotation.heldReplicas]: before }
    await host.kube.patch(kind, object.metadata, { metadata: { annotations }, spec: ended }, signal)
  })
  const selection = { namespace: helmRelease(place).namespace, labels: chartLabels(place, host.instance) }
  const jobs = (await host.kube.list(kinds.job, selection, signal)).items
  await everyOne(jobs.map(({ metadata }) => host.kube.remove(kinds.job, metadata, signal)))
  while ((await listChartPods(host, place.service, signal)).some(({ running, isLeaving }) => running || isLeaving)) {
    await host.clock.sleep(pauseMs, signal)
  }
}

/** Gives programs that `endPrograms` ended their replicas again. */
export async function resumePrograms(host: KubeHost, place: ChartPlace, signal: AbortSignal): Promise<void> {
  await eachScaled(host, place, signal, async ({ kind, resumed }, object) => {
    const held = heldOf(object)
    if (held === undefined) return
    const annotations = { [annotation.heldReplicas]: null }
    await host.kube.patch(kind, object.metadata, { metadata: { annotations }, spec: resumed(held) }, signal)
  })
}

const heldOf = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[annotation.heldReplicas]

/** Does something with each object of a chart that creates pods and that no other object owns. */
async function eachScaled(
  { kube, instance }: KubeHost,
  place: ChartPlace,
  signal: AbortSignal,
  work: (scaling: Scaling, object: KubeObject) => Promise<void>,
): Promise<void> {
  const selection = { namespace: helmRelease(place).namespace, labels: chartLabels(place, instance) }
  const found = await everyOne(
    scalings.map(async (scaling) => ({ scaling, items: (await kube.list(scaling.kind, selection, signal)).items })),
  )
  const own = found.flatMap(({ scaling, items }) =>
    items.filter(({ metadata }) => !metadata.ownerReferences?.length).map((object) => ({ scaling, object })),
  )
  await everyOne(own.map(({ scaling, object }) => work(scaling, object)))
}
