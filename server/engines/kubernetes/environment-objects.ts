import type { KubeObject } from './client/index.ts'
import { listedObjects } from './drift.ts'
import { annotation, label, ownLabels } from './labels.ts'
import { namespaceOf } from './names.ts'

/**
 * Where clouds hand out credentials of a node: link-local addresses, Alibaba, and the wire server
 * of Azure.
 */
const metadata = ['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32']
/** The same in IPv6: Amazon and Google. */
const metadataV6 = ['fd00:ec2::254/128', 'fd20:ce::254/128']

/** Returns the namespace of an environment with these objects and labels of its cluster. Pure. */
export const environmentNamespace = (
  environment: string,
  instance: string,
  objects: readonly KubeObject[] = [],
  labelsOfUsers: Readonly<Record<string, string>> = {},
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespaceOf(environment),
    labels: {
      ...labelsOfUsers,
      ...ownLabels(instance, { [label.environment]: environment }),
      // Ordinary images start as root and then drop to their own user, which `restricted` forbids.
      'pod-security.kubernetes.io/enforce': 'baseline',
      'pod-security.kubernetes.io/warn': 'restricted',
    },
    annotations: { [annotation.objects]: listedObjects(objects) },
  },
})

/**
 * Returns the network rules of an environment. Its pods accept connections from each other and from
 * namespaces that are no environments, such as that of an ingress controller. They reach everything
 * except the metadata services of clouds. Port 53 stays open there: a NodeLocal DNSCache has a
 * link-local address. The network of the cluster must enforce such rules.
 */
export const environmentPolicies = (environment: string, instance: string): KubeObject[] => [
  policy(environment, instance, 'quayside-isolation', {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        from: [
          { podSelector: {} },
          { namespaceSelector: { matchExpressions: [{ key: label.environment, operator: 'DoesNotExist' }] } },
        ],
      },
    ],
    egress: [
      {
        to: [{ ipBlock: { cidr: '0.0.0.0/0', except: metadata } }, { ipBlock: { cidr: '::/0', except: metadataV6 } }],
      },
      {
        to: metadata.map((cidr) => ({ ipBlock: { cidr } })),
        ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })),
      },
    ],
  }),
]

/**
 * The most objects of an environment. Their sum stays below the two GiB of a usual etcd even if
 * each Secret and ConfigMap has its largest size of one MiB, so one environment cannot fill it.
 */
const mostObjects = {
  pods: 2000,
  services: 1000,
  secrets: 1000,
  configmaps: 300,
  persistentvolumeclaims: 500,
  'deployments.apps': 1000,
  'replicasets.apps': 2000,
  'statefulsets.apps': 200,
  'daemonsets.apps': 50,
  'jobs.batch': 1000,
  'cronjobs.batch': 200,
  'ingresses.networking.k8s.io': 1000,
  'networkpolicies.networking.k8s.io': 200,
  'horizontalpodautoscalers.autoscaling': 500,
  'poddisruptionbudgets.policy': 1000,
}

/** What a container gets that names no limits, so that it cannot use up a node. */
const usualLimits = { cpu: '4', memory: '4Gi' }
const usualRequests = { cpu: '50m', memory: '64Mi' }

/** Returns how many objects an environment may have. Pure. */
export const environmentQuota = (environment: string, instance: string): KubeObject & { spec: { hard: object } } => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: metadataOf(environment, instance, 'quayside'),
  spec: { hard: Object.fromEntries(Object.entries(mostObjects).map(([kind, most]) => [`count/${kind}`, `${most}`])) },
})

/** Returns the limits of containers of an environment that name none. Pure. */
export const environmentLimits = (environment: string, instance: string): KubeObject & { spec: object } => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: metadataOf(environment, instance, 'quayside'),
  spec: { limits: [{ type: 'Container', default: usualLimits, defaultRequest: usualRequests }] },
})

const policy = (environment: string, instance: string, name: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadataOf(environment, instance, name),
  spec,
})

const metadataOf = (environment: string, instance: string, name: string) => ({
  name,
  namespace: namespaceOf(environment),
  labels: ownLabels(instance, { [label.environment]: environment }),
})
