import { EngineError, type Release, type Workload } from '../engine.ts'

const usersKey = /^(?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/
const usersValue = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/

/** A key of a label or an annotation: a domain, if it has one, and a name. */
interface Key {
  readonly prefix: string | undefined
  readonly name: string
}

/** Returns the parts of a key; undefined if Kubernetes does not take it. */
export function splitKey(key: string): Key | undefined {
  if (!usersKey.test(key)) return undefined
  const slash = key.indexOf('/')
  return { prefix: slash === -1 ? undefined : key.slice(0, slash), name: key.slice(slash + 1) }
}

/**
 * Domains whose labels mean something to Kubernetes, to the platform, or to programs that give pods
 * an identity, add containers to them, or decide which connections they may have.
 */
const reservedDomains: ReadonlySet<string> = new Set([
  'kubernetes.io',
  'k8s.io',
  'quayside.io',
  // Meshes and other programs that add containers.
  'istio.io',
  'linkerd.io',
  'kuma.io',
  'openservicemesh.io',
  'hashicorp.com',
  'dapr.io',
  'datadoghq.com',
  'dynatrace.com',
  'newrelic.com',
  'instana.com',
  // Identities and machines of clouds.
  'azure.workload.identity',
  'azure.com',
  'amazonaws.com',
  'gke.io',
  'google.com',
  'aliyun.com',
  'openshift.io',
  // Networks, policies and other controllers.
  'cilium.io',
  'projectcalico.org',
  'antrea.io',
  'traefik.io',
  'traefik.containo.us',
  'konghq.com',
  'knative.dev',
  'keda.sh',
  'karpenter.sh',
  'cert-manager.io',
  'crossplane.io',
  'argoproj.io',
  'fluxcd.io',
  'helm.sh',
  'kyverno.io',
  'gatekeeper.sh',
  'volcano.sh',
  'virtual-kubelet.io',
  // Programs that copy Secrets, publish Services, attach networks or configure proxies.
  'emberstack.com',
  'mittwald.de',
  'appscode.com',
  'universe.tf',
  'metallb.io',
  'tailscale.com',
  'x-k8s.io',
  'submariner.io',
  'cncf.io',
  'ovn.org',
  'haproxy.org',
  'haproxy-ingress.github.io',
  'nginx.org',
  'nginx.com',
  'projectcontour.io',
  'getambassador.io',
  'solo.io',
  '1password.io',
  'banzaicloud.io',
  'tumblr.com',
  'jaegertracing.io',
  'opentelemetry.io',
  'k8s.aws',
])

/** Keys without a domain that mean something, in lower case. */
const reservedKeys: ReadonlySet<string> = new Set([
  // Selectors of Kubernetes itself and of its usual add-ons.
  'pod-template-hash',
  'controller-revision-hash',
  'controller-uid',
  'job-name',
  'k8s-app',
  'kubernetes',
  // An identity of Azure.
  'aadpodidbinding',
])

/** Whether a label or an annotation with this key means something. */
export function isReserved({ prefix, name }: Key): boolean {
  if (prefix === undefined) return reservedKeys.has(name.toLowerCase())
  const parts = prefix.split('.')
  return parts.some((_, index) => reservedDomains.has(parts.slice(index).join('.')))
}

/** Returns why a cluster does not take a label, as the end of a sentence. Undefined if it does. */
function labelProblem(key: string, value: string): string | undefined {
  const split = splitKey(key)
  if (!split || isReserved(split)) return 'which a cluster does not take; rename it'
  if (usersValue.test(value)) return undefined
  return 'whose value is not allowed; use at most 63 letters, digits, ".", "_" and "-"'
}

/**
 * Returns the labels that users chose. Throws EngineError('refused') for one that Kubernetes does
 * not take, or that means something to a program of the cluster.
 */
export function usersLabels({ displayName, workload }: Pick<Release<Workload>, 'displayName' | 'workload'>) {
  const labels = workload.labels ?? {}
  for (const [key, value] of Object.entries(labels)) {
    const problem = labelProblem(key, value)
    if (problem !== undefined) throw new EngineError('refused', `"${displayName}" has the label "${key}", ${problem}`)
  }
  return labels
}

/**
 * Splits the labels of a cluster: its namespaces get some of them, and each other one has a
 * sentence that says why not.
 */
export function labelsOfCluster(labels: Readonly<Record<string, string>>) {
  const judged = Object.entries(labels).map(([key, value]) => ({ key, value, problem: labelProblem(key, value) }))
  return {
    taken: Object.fromEntries(
      judged.flatMap(({ key, value, problem }) => (problem === undefined ? [[key, value]] : [])),
    ),
    problems: judged.flatMap(({ key, problem }) =>
      problem === undefined ? [] : `The cluster has the label "${key}", ${problem}.`,
    ),
  }
}
