import { parseId } from '../../../lib/id.ts'
import type { ChartService } from '../../engine.ts'
import { type Job, type KubeObject, kinds, type PersistentVolumeClaim, plain, type Service } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { Informer } from '../informer.ts'
import { label } from '../labels.ts'
import { isHome } from '../names.ts'
import { toChartService } from './chart-service.ts'

/** An object of a chart, other than a pod, whose state counts for the state of the chart. */
export interface ChartPart {
  /** The service of the platform. */
  readonly service: string
  /** A Service, if public ports may lead to it. */
  readonly target?: ChartService
  /** A claim of a volume, which may stay when the chart is uninstalled. */
  readonly isVolume?: boolean
  /** Why it is not ready yet. */
  readonly pending?: string
  /** Why it never becomes ready. */
  readonly failed?: string
}

/** Secrets tell that a chart is installed: each release of Helm has one. */
const readers = {
  service: (object: KubeObject) => servicePart(object),
  claim: (object: KubeObject) => claimPart(object),
  job: (object: KubeObject) => jobPart(object),
  secret: (object: KubeObject) => ofService(object),
}
const readKinds = [
  { kind: kinds.service, reduce: readers.service, metadataOnly: false },
  { kind: kinds.volumeClaim, reduce: readers.claim, metadataOnly: false },
  { kind: kinds.job, reduce: readers.job, metadataOnly: false },
  { kind: kinds.secret, reduce: readers.secret, metadataOnly: true },
] as const

/** The objects of charts on one cluster, besides their pods. */
export class ChartObjects {
  readonly #host: KubeHost
  readonly #informers: readonly Informer<KubeObject, ChartPart>[]

  constructor(host: KubeHost) {
    this.#host = host
    this.#informers = readKinds.map(
      ({ kind, reduce, metadataOnly }) =>
        new Informer<KubeObject, ChartPart>({
          ...host,
          kind,
          selection: { labels: this.#labels(), metadataOnly },
          reduce,
        }),
    )
  }

  #labels(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { [label.instance]: this.#host.instance, [label.chart]: 'true', ...more }
  }

  /** Grows with every change. */
  get version(): number {
    return this.#informers.reduce((sum, { version }) => sum + version, 0)
  }

  /** Returns the objects of all charts by their service. Anybody may write labels by hand. */
  async all(signal: AbortSignal): Promise<ReadonlyMap<string, readonly ChartPart[]>> {
    const found = await Promise.all(this.#informers.map((informer) => informer.objects(signal)))
    const parts = found.flatMap((objects) => [...objects.values()])
    return Map.groupBy(
      parts.filter(({ service }) => parseId(service) !== undefined),
      ({ service }) => service,
    )
  }

  /** Asks the cluster for the objects of one chart. */
  async one(service: string, signal: AbortSignal): Promise<readonly ChartPart[]> {
    const labels = this.#labels({ [label.service]: service })
    const found = await Promise.all(
      readKinds.map(async ({ kind, reduce, metadataOnly }) => {
        const { items } = await this.#host.kube.list<KubeObject>(kind, { labels, metadataOnly }, signal)
        return items.map(reduce)
      }),
    )
    return found.flat()
  }

  close(): void {
    for (const informer of this.#informers) informer.close()
  }
}

const ofService = ({ metadata: { labels } }: KubeObject) => ({ service: labels?.[label.service] ?? '' })

function servicePart(object: Service): ChartPart {
  const { metadata, spec, status } = object
  const target = isHome(metadata.namespace, metadata.labels?.[label.environment]) && toChartService(metadata.name, spec)
  const isWaiting = spec?.type === 'LoadBalancer' && !status?.loadBalancer?.ingress?.length
  return {
    ...ofService(object),
    ...(target && { target }),
    ...(isWaiting && { pending: `Service ${plain(metadata.name)} has no address of a load balancer yet` }),
  }
}

function claimPart(object: PersistentVolumeClaim): ChartPart {
  const [name, phase] = [plain(object.metadata.name), object.status?.phase]
  return {
    ...ofService(object),
    isVolume: true,
    ...(phase === 'Pending' && { pending: `PersistentVolumeClaim ${name} has no volume yet` }),
    ...(phase === 'Lost' && { failed: `PersistentVolumeClaim ${name} has lost its volume` }),
  }
}

function jobPart(object: KubeObject): ChartPart {
  // The kind of the informer decides the form of its objects.
  const { metadata, status } = object as Job
  const holds = (type: string) => status?.conditions?.find((one) => one.type === type && one.status === 'True')
  const [name, failure] = [plain(metadata.name), holds('Failed')]
  // The end of a hook is that of its deployment.
  if (metadata.annotations?.['helm.sh/hook'] !== undefined) return ofService(object)
  const isOpen = !failure && !holds('Complete') && !holds('Suspended')
  return {
    ...ofService(object),
    ...(failure && { failed: `Job ${name} failed: ${plain(failure.message ?? failure.reason ?? 'no reason')}` }),
    ...(isOpen && { pending: `Job ${name} is not complete yet` }),
  }
}
