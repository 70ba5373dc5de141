import { printable } from '../../lib/text.ts'
import type { KubeObject } from '../ingress/kube-objects.ts'
import type { RouterFinding } from '../router.ts'
import { isInstalled } from './installation.ts'
import type { Keeping } from './keeping.ts'
import { type PodKube, podKinds } from './pod-kube.ts'
import { rolledOut } from './rollout.ts'
import { type RouterObjectSetting, routerName } from './router-objects.ts'

interface ServiceObject extends KubeObject {
  readonly spec?: { readonly type?: string; readonly ports?: readonly { readonly nodePort?: number }[] }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
  }
}

/** Says that the platform's own routers carry the traffic of a cluster, and what they lack. */
export async function findingsOf(
  { kube, setting }: { readonly kube: PodKube; readonly setting: Omit<RouterObjectSetting, 'pullConfig'> },
  { isTooLarge, areCertificatesTooLarge }: Pick<Keeping, 'isTooLarge' | 'areCertificatesTooLarge'>,
  signal: AbortSignal,
): Promise<readonly RouterFinding[]> {
  const { namespace, exposure } = setting
  const by = `Its traffic goes through the router of the platform, in pods of the namespace ${namespace}`
  if (!(await isInstalled(kube, setting, signal))) {
    return [advice(`${by}, because it has no ingress controller. They are created now.`)]
  }
  // The object of this path is a Service.
  const found = (await kube.get(podKinds.service, { namespace, name: routerName }, signal)) as ServiceObject | undefined
  const { isDone, text } = await rolledOut(kube, setting, signal)
  const look = `kubectl -n ${namespace} describe service ${routerName}`
  const tooLarge =
    'Its route table is too large for the Secrets of the cluster: a router that starts while the platform is away ' +
    'waits.'
  return [
    advice(
      `${by}, and the Service ${routerName} there (${placeOf(found)}). The wildcard record of its domain leads to it.`,
    ),
    ...(isDone ? [] : [advice(`Its routers are not all up to date: ${text}. Look: kubectl -n ${namespace} get pods`)]),
    ...(exposure.type === 'LoadBalancer' && found && addressOf(found) === undefined
      ? [advice(`Its Service ${routerName} has no address yet. Look: ${look}`)]
      : []),
    ...(isTooLarge ? [advice(tooLarge)] : []),
    ...(setting.keepsKeys ? [advice(areCertificatesTooLarge ? keysTooLarge : keptKeys(namespace))] : []),
  ]
}

const keptKeys = (namespace: string): string =>
  `Private keys of its certificates are in Secrets of the namespace ${namespace} too ` +
  '(QUAYSIDE_CLUSTER_ROUTER_KEYS=secrets). Everybody who may read Secrets there can read them.'
const keysTooLarge =
  'Its certificates are too many for the Secrets of the cluster: a router that starts while the platform is away waits.'

function placeOf(service: ServiceObject | undefined): string {
  if (!service) return 'missing'
  const ports = (service.spec?.ports ?? []).flatMap(({ nodePort }) => nodePort ?? [])
  const address = addressOf(service)
  if (service.spec?.type === 'LoadBalancer' && address !== undefined) return `LoadBalancer, ${address}`
  const noun = ports.length > 1 ? 'ports' : 'port'
  return `${service.spec?.type}${ports.length === 0 ? '' : `, ${noun} ${ports.join(' and ')} of nodes with a router`}`
}

function addressOf({ status }: ServiceObject): string | undefined {
  const [first] = status?.loadBalancer?.ingress ?? []
  return first?.ip ?? first?.hostname
}

const advice = (message: string): RouterFinding => ({ message: printable(message), isBlocking: false })
