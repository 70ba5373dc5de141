import type { KubeObject } from './client/index.ts'
import { label, ownLabels } from './labels.ts'
import { namespaceOf } from './names.ts'

/** Addresses of a cloud's metadata service, which hands out credentials of the node. */
const metadataNetwork = '169.254.0.0/16'
const metadataNetworkV6 = 'fd00:ec2::254/128'

/** Returns the namespace of an environment. Pure. */
export const environmentNamespace = (environment: string, instance: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespaceOf(environment),
    labels: {
      ...ownLabels(instance, { [label.environment]: environment }),
      // Ordinary images start as root and then drop to their own user, which `restricted` forbids.
      'pod-security.kubernetes.io/enforce': 'baseline',
      'pod-security.kubernetes.io/warn': 'restricted',
    },
  },
})

/**
 * Returns the network rules of an environment. Its pods accept connections from each other and from
 * namespaces that are no environments, such as that of an ingress controller. They reach everything
 * except the metadata service of a cloud. The network of the cluster must enforce such rules.
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
        to: [
          { ipBlock: { cidr: '0.0.0.0/0', except: [metadataNetwork] } },
          { ipBlock: { cidr: '::/0', except: [metadataNetworkV6] } },
        ],
      },
    ],
  }),
]

const policy = (environment: string, instance: string, name: string, spec: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: {
    name,
    namespace: namespaceOf(environment),
    labels: ownLabels(instance, { [label.environment]: environment }),
  },
  spec,
})
