import type { Finding } from '../engine.ts'
import { type Kube, KubeError, type KubeVersion, kinds, type Node, type StorageClass } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { type Right, rights } from './rights.ts'

/** The facts that a check of a cluster gathers. */
export interface ClusterFacts {
  readonly version: KubeVersion
  /** Rights that are missing, each with one verb. */
  readonly missing: readonly { readonly right: Right; readonly verb: string }[]
  readonly nodes: readonly Node[]
  /** Undefined if they may not be listed. */
  readonly storageClasses: readonly StorageClass[] | undefined
  readonly hasMetrics: boolean
}

/** The means of the platform for clusters. */
interface PlatformFacts {
  readonly hasRegistry: boolean
}

/** The oldest version that is tested, and the first one whose pods can wait before they stop. */
const oldestMinor = 30
const isDefaultClass = 'storageclass.kubernetes.io/is-default-class'

/** Asks a cluster what the platform needs of it. Changes nothing. */
export async function gatherFacts({ kube }: KubeHost, signal: AbortSignal): Promise<ClusterFacts> {
  const version = await kube.version(signal)
  const asked = rights.flatMap((right) => right.verbs.map((verb) => ({ right, verb })))
  const answers = await Promise.all(asked.map((one) => mayI(kube, one, signal)))
  const missing = asked.filter((_, index) => !answers[index])
  const may = (resource: string): boolean => !missing.some(({ right }) => right.resource === resource)
  return {
    version,
    missing,
    nodes: may('nodes') ? (await kube.list(kinds.node, {}, signal)).items : [],
    storageClasses: may('storageclasses') ? (await kube.list(kinds.storageClass, {}, signal)).items : undefined,
    hasMetrics: await hasMetrics(kube, signal),
  }
}

/** The metrics API is a program of its own, which may be missing or away. */
async function hasMetrics(kube: Kube, signal: AbortSignal): Promise<boolean> {
  try {
    await kube.raw('/apis/metrics.k8s.io/v1beta1', signal)
    return true
  } catch (error) {
    if (error instanceof KubeError) return false
    throw error
  }
}

async function mayI(
  kube: Kube,
  { right, verb }: { readonly right: Right; readonly verb: string },
  signal: AbortSignal,
): Promise<boolean> {
  const [resource = '', subresource] = right.resource.split('/')
  const resourceAttributes = { verb, group: right.group, resource, ...(subresource && { subresource }) }
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: { name: '' },
    spec: { resourceAttributes },
  }
  const answer = await kube.create<typeof review & { readonly status?: { readonly allowed: boolean } }>(review, signal)
  return answer.status?.allowed === true
}

/** Returns what a cluster lacks, the worst first. Pure. */
export function judgeCluster(facts: ClusterFacts & PlatformFacts): Finding[] {
  const { version, missing, nodes, storageClasses, hasMetrics, hasRegistry } = facts
  const findings: Finding[] = []
  const isOld = version.major < 1 || (version.major === 1 && version.minor < oldestMinor)
  if (isOld) findings.push(blocking(`It runs Kubernetes ${version.text}. Upgrade it to 1.${oldestMinor} or later.`))
  const isReady = ({ status }: Node) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')
  const mayListNodes = !missing.some(({ right }) => right.resource === 'nodes')
  if (mayListNodes && !nodes.some(isReady)) {
    findings.push(blocking('It has no node that is ready. Look at `kubectl get nodes`.'))
  }
  if (!hasRegistry) {
    const setting = 'Ask the operator of the platform to set QUAYSIDE_CLUSTER_REGISTRY.'
    findings.push(blocking(`The platform has no registry from which the nodes can take images. ${setting}`))
  }
  for (const [right, verbs] of Map.groupBy(missing, (one) => one.right)) findings.push(missingRight(right, verbs))
  if (storageClasses && !storageClasses.some(({ metadata }) => metadata.annotations?.[isDefaultClass] === 'true')) {
    const command = `kubectl annotate storageclass NAME ${isDefaultClass}=true`
    findings.push(
      advice(`It has no default storage class, so services with storage cannot start. Choose one: ${command}`),
    )
  }
  if (!hasMetrics) {
    const source = 'https://github.com/kubernetes-sigs/metrics-server/releases/latest/download/components.yaml'
    findings.push(advice(`It has no metrics, so usage is not shown. Install them: kubectl apply -f ${source}`))
  }
  return findings.toSorted((a, b) => Number(b.isBlocking) - Number(a.isBlocking))
}

function missingRight(right: Right, missing: readonly { readonly verb: string }[]): Finding {
  const verbs = missing.map(({ verb }) => verb).join(',')
  const { resource, group, isOptional } = right
  const name = group === '' ? resource : `${resource}.${group}`
  const what = `The user of the kubeconfig may not ${missing.map(({ verb }) => verb).join(', ')} ${resource}`
  const command = `kubectl create clusterrole NAME --verb=${verbs} --resource=${name}`
  if (isOptional) return advice(`${what}, so ${isOptional}. Allow it: ${command}`)
  return blocking(`${what}. Allow it: ${command}, and bind it to that user (docs/kubernetes.md).`)
}

const blocking = (message: string): Finding => ({ message, isBlocking: true })
const advice = (message: string): Finding => ({ message, isBlocking: false })
