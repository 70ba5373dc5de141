import { everyOne } from '../../lib/every-one.ts'
import { type KubeObject, kinds, type Service } from './client/index.ts'
import { applyMarked } from './drift.ts'
import type { KubeHost } from './host.ts'
import { refuseForeign } from './own-objects.ts'

/** A Service that gives a service one of its names, as the platform writes it. */
export type NamedService = KubeObject & { readonly spec: NonNullable<Service['spec']> }

export const isService = (object: KubeObject): object is NamedService => object.kind === 'Service'

interface Offered {
  readonly wanted: NamedService
  /** The Service before the start. */
  readonly former: Service | undefined
}

/**
 * The names of a service while a release starts. Callers of the running release keep its ports
 * until the new one is healthy, and a release that fails leaves the names as they were.
 */
export class ServiceNames {
  readonly #host: KubeHost
  #offered: readonly Offered[] = []

  constructor(host: KubeHost) {
    this.#host = host
  }

  /** Adds the ports of a release to those of its names. Throws EngineError('refused'). */
  async offer(services: readonly NamedService[], signal: AbortSignal): Promise<void> {
    const { kube, instance } = this.#host
    this.#offered = await everyOne(
      services.map(async (wanted) => {
        const former = await kube.get(kinds.service, wanted.metadata, signal)
        refuseForeign(instance, former)
        return { wanted, former }
      }),
    )
    await everyOne(
      this.#offered.map(async ({ wanted, former }) => {
        const both = former ? withPortsOf(wanted, former) : wanted
        if (both) await kube.apply(both, signal)
      }),
    )
  }

  /** Leaves only the ports of the release, which is healthy. */
  async settle(signal: AbortSignal): Promise<void> {
    const { kube } = this.#host
    await everyOne(
      this.#offered.map(async ({ wanted, former }) => {
        // The address of a Service cannot be taken back.
        if (former && isHeadless(wanted) && !isHeadless(former)) {
          await kube.remove(kinds.service, wanted.metadata, signal, { uid: former.metadata.uid })
        }
        await applyMarked(this.#host, wanted, signal)
      }),
    )
  }

  /** Restores the names after the release failed. */
  async undo(signal: AbortSignal): Promise<void> {
    const { kube } = this.#host
    await everyOne(
      this.#offered.map(async ({ wanted, former }) => {
        if (!former) await kube.remove(kinds.service, wanted.metadata, signal)
        else if (!isHeadless(former)) await kube.apply(restored(former), signal)
      }),
    )
  }
}

type Ports = NonNullable<NamedService['spec']['ports']>

const isHeadless = ({ spec }: { readonly spec?: Service['spec'] }): boolean => spec?.clusterIP === 'None'
const keyOf = ({ port, protocol = 'TCP' }: Ports[number]): string => `${protocol} ${port}`
const portsOf = ({ spec }: { readonly spec?: Service['spec'] }): Ports => spec?.ports ?? []

/** A name without an address leads to the pods, whatever their ports are. */
function withPortsOf(wanted: NamedService, former: Service): NamedService | undefined {
  if (isHeadless(former)) return isHeadless(wanted) ? wanted : undefined
  if (isHeadless(wanted)) return undefined
  const own = new Set(portsOf(wanted).map(keyOf))
  const left = portsOf(former).filter((port) => !own.has(keyOf(port)))
  return { ...wanted, spec: { ...wanted.spec, ports: [...portsOf(wanted), ...left.map(plainPort)] } }
}

/** As the platform wrote it before. */
const restored = (former: Service): NamedService => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: former.metadata.name,
    ...(former.metadata.namespace !== undefined && { namespace: former.metadata.namespace }),
    ...(former.metadata.labels && { labels: former.metadata.labels }),
  },
  spec: {
    ...(former.spec?.selector && { selector: former.spec.selector }),
    ports: portsOf(former).map(plainPort),
  },
})

/** Leaves out what the cluster added. */
const plainPort = ({ name, port, protocol = 'TCP' }: Ports[number]): Ports[number] => ({
  ...(name !== undefined && { name }),
  port,
  targetPort: port,
  protocol,
})
