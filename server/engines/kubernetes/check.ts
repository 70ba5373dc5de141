import type { Finding } from '../engine.ts'
import { type Kube, KubeError, type KubeVersion, kinds, type Node, type StorageClass } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { resourcesOf, rightsWith } from './known-resources.ts'
import type { Right } from './rights.ts'

/** The facts that a check of a cluster gathers. */
export interface ClusterFacts {
  readonly version: KubeVersion
  /** The name of the user as the cluster knows it. Undefined if the cluster does not tell. */
  readonly user: string | undefined
  /** Rights that are missing, each with one verb. */
  readonly missing: readonly { readonly right: Right; readonly verb: string }[]
  readonly nodes: readonly Node[]
  /** Undefined if they may not be listed. */
  readonly storageClasses: readonly StorageClass[] | undefined
  readonly hasMetrics: boolean
}

/** The settings of the platform for a cluster. */
interface PlatformFacts {
  /** Whether names of its services lead to its own ingress controller. */
  readonly hasDomain: boolean
}

/**
 * The first version whose pods can wait before they stop without a program of their image
 * (`preStop.sleep`). An image may have no `sleep` that could be executed instead, and a pod that
 * does not wait loses the requests that nodes still send to it.
 */
const oldestMinor = 30
const isDefaultClass = 'storageclass.kubernetes.io/is-default-class'

/** Asks a cluster what the platform needs of it. Changes nothing. */
export async function gatherFacts({ kube }: KubeHost, signal: AbortSignal): Promise<ClusterFacts> {
  const [version, resources] = await Promise.all([kube.version(signal), resourcesOf(kube, signal)])
  const asked = rightsWith(resources).flatMap((right) => right.verbs.map((verb) => ({ right, verb })))
  const [user, ...answers] = await Promise.all([whoAmI(kube, signal), ...asked.map((one) => mayI(kube, one, signal))])
  const missing = asked.filter((_, index) => !answers[index])
  const may = (resource: string): boolean => !missing.some(({ right }) => right.resource === resource)
  return {
    version,
    user,
    missing,
    nodes: may('nodes') ? (await kube.list(kinds.node, {}, signal)).items : [],
    storageClasses: may('storageclasses') ? (await kube.list(kinds.storageClass, {}, signal)).items : undefined,
    hasMetrics: await hasMetrics(kube, signal),
  }
}

const metricsSource = 'https://github.com/kubernetes-sigs/metrics-server/releases/latest/download/components.yaml'
/** The command that gives a cluster metrics. */
export const metricsAdvice = `Install them: kubectl apply -f ${metricsSource}`

/** The metrics API is a program of its own, which may be missing or away. */
export async function hasMetrics(kube: Kube, signal: AbortSignal): Promise<boolean> {
  try {
    await kube.raw('/apis/metrics.k8s.io/v1beta1', signal)
    return true
  } catch (error) {
    if (error instanceof KubeError) return false
    throw error
  }
}

/** Returns the name of the user. Undefined if the cluster does not tell it. */
async function whoAmI(kube: Kube, signal: AbortSignal): Promise<string | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } }
  try {
    const answer: unknown = await kube.create(review, signal)
    const name: unknown = Object(Object(Object(answer).status).userInfo).username
    return typeof name === 'string' ? name : undefined
  } catch (error) {
    if (error instanceof KubeError) return undefined
    throw error
  }
}

/** Whether the user of the cluster has a right. */
export async function mayI(
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
  const { version, user, missing, nodes, storageClasses, hasMetrics, hasDomain } = facts
  const findings: Finding[] = []
  const isOld = version.major < 1 || (version.major === 1 && version.minor < oldestMinor)
  if (isOld) findings.push(blocking(`It runs Kubernetes ${version.text}. Upgrade it to 1.${oldestMinor} or later.`))
  const isReady = ({ status }: Node) => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')
  const mayListNodes = !missing.some(({ right }) => right.resource === 'nodes')
  if (mayListNodes && !nodes.some(isReady)) {
    findings.push(blocking('It has no node that is ready. Look at `kubectl get nodes`.'))
  }
  for (const [right, verbs] of Map.groupBy(missing, (one) => one.right)) {
    const finding = missingRight(right, verbs, user)
    findings.push(right.isForDomain && hasDomain ? { ...finding, isBlocking: true } : finding)
  }
  if (storageClasses && !storageClasses.some(({ metadata }) => metadata.annotations?.[isDefaultClass] === 'true')) {
    const command = `kubectl annotate storageclass NAME ${isDefaultClass}=true`
    findings.push(
      advice(`It has no default storage class, so services with storage cannot start. Choose one: ${command}`),
    )
  }
  if (!hasMetrics) {
    const effects = 'usage is not shown, and no service gets replicas by load'
    findings.push(advice(`It has no metrics, so ${effects}. ${metricsAdvice}`))
  }
  return findings.toSorted((a, b) => Number(b.isBlocking) - Number(a.isBlocking))
}

function missingRight(right: Right, missing: readonly { readonly verb: string }[], user: string | undefined): Finding {
  const verbs = missing.map(({ verb }) => verb)
  const { resource, group, isOptional } = right
  const target = group === '' ? resource : `${resource}.${group}`
  const role = `quayside-${target.replaceAll(/[^a-z0-9]/g, '-')}`
  const what = `The user of the cluster may not ${verbs.join(', ')} ${target}`
  const command =
    `kubectl create clusterrole ${role} --verb=${verbs.join(',')} --resource=${target} && ` +
    `kubectl create clusterrolebinding ${role} --clusterrole=${role} ${subjectOf(user)}`
  return isOptional
    ? advice(`${what}, so ${isOptional}. Allow it: ${command}`)
    : blocking(`${what}. Allow it: ${command}`)
}

/** Returns the option of `kubectl` that names a user. The name comes from the cluster. */
function subjectOf(user = ''): string {
  const [, account] = /^system:serviceaccount:([a-z0-9.-]{1,253}:[a-z0-9.-]{1,253})$/.exec(user) ?? []
  if (account !== undefined) return `--serviceaccount=${account}`
  return /^[A-Za-z0-9:.@_-]{1,253}$/.test(user) ? `--user=${user}` : '--user=NAME'
}

const blocking = (message: string): Finding => ({ message, isBlocking: true })
/** Something that a cluster can do without. */
export const advice = (message: string): Finding => ({ message, isBlocking: false })
