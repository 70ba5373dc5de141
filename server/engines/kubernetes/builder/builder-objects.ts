import type { KubeObject } from '../client/index.ts'
import { label, ownLabels } from '../labels.ts'
import { mainContainer } from '../program.ts'

/** The operator's settings of builders in clusters. */
export interface ClusterBuilderSettings {
  /** An image with `buildkitd`, `buildctl` and `runc`, by digest, as nodes name it. */
  readonly image: string
  /** Limits of all builds of a cluster together. */
  readonly cpuMilli: number
  readonly memoryMiB: number
  /** The size of its cache. */
  readonly diskGiB: number
  /** The label of the nodes that run it, whose taint of the same name it tolerates. */
  readonly nodes: { readonly key: string; readonly value: string } | undefined
}

/** The values on which the objects of a cluster's builder depend. */
export interface BuilderObjectSetting extends ClusterBuilderSettings {
  readonly instance: string
  /** A Docker configuration with credentials of the registry, for its image. */
  readonly pullConfig?: string | undefined
}

export const builderName = 'builder'
const cacheName = 'builder-cache'
const pullSecretName = 'builder-registry'
const cachePath = '/var/lib/buildkit'

/** The namespace has nothing but the builder. */
export const builderNamespaceName = (instance: string): string => `quayside-builder-${instance}`
export const builderLabels = (instance: string): Record<string, string> =>
  ownLabels(instance, { [label.builder]: 'true' })

/** The namespace of the builder, which has to accept a privileged pod. Pure. */
export const builderNamespace = (instance: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: builderNamespaceName(instance),
    labels: { ...builderLabels(instance), 'pod-security.kubernetes.io/enforce': 'privileged' },
  },
})

/** The claim of the cache. It keeps its size once it exists. Pure. */
export const builderClaim = ({ instance, diskGiB }: BuilderObjectSetting): KubeObject => ({
  ...heads(instance, 'v1', 'PersistentVolumeClaim', cacheName),
  ...{ spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: `${diskGiB}Gi` } } } },
})

/** Returns the other objects of the builder. Pure. */
export function builderObjects(setting: BuilderObjectSetting): readonly KubeObject[] {
  const { instance, pullConfig } = setting
  const secret = {
    ...heads(instance, 'v1', 'Secret', pullSecretName),
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(pullConfig ?? '').toString('base64') },
  }
  return [networkPolicy(instance), ...(pullConfig === undefined ? [] : [secret]), deployment(setting)]
}

/** Private, link-local and shared addresses, which clusters, nodes and metadata services have. */
const near = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16', '168.63.129.16/32']
const nearV6 = ['fc00::/7', 'fe80::/10']

/**
 * Nothing reaches the builder: the platform executes a program in it. Steps reach public addresses
 * and name servers. The network of the cluster must enforce such rules.
 */
const networkPolicy = (instance: string) => ({
  ...heads(instance, 'networking.k8s.io/v1', 'NetworkPolicy', builderName),
  spec: {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [],
    egress: [
      { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: near } }, { ipBlock: { cidr: '::/0', except: nearV6 } }] },
      { ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })) },
    ],
  },
})

/** Two daemons must not share a cache, so the old pod ends before a new one begins. */
function deployment(setting: BuilderObjectSetting) {
  const { instance, nodes, pullConfig } = setting
  const labels = builderLabels(instance)
  return {
    ...heads(instance, 'apps/v1', 'Deployment', builderName),
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      strategy: { type: 'Recreate' },
      revisionHistoryLimit: 1,
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 10,
          ...(pullConfig !== undefined && { imagePullSecrets: [{ name: pullSecretName }] }),
          ...(nodes && {
            nodeSelector: { [nodes.key]: nodes.value },
            tolerations: [{ key: nodes.key, operator: 'Equal', value: nodes.value }],
          }),
          containers: [container(setting)],
          volumes: [
            { name: 'cache', persistentVolumeClaim: { claimName: cacheName } },
            { name: 'run', emptyDir: {} },
          ],
        },
      },
    },
  }
}

function container({ image, cpuMilli, memoryMiB, diskGiB }: BuilderObjectSetting) {
  const diskMB = diskGiB * 1000
  // The size that is kept in any case, the space that stays free, and the largest size.
  const kept = [diskMB * 0.1, diskMB * 0.1, diskMB * 0.8].map(Math.round).join(',')
  const readyCommand = ['buildctl', 'debug', 'workers']
  return {
    name: mainContainer,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['buildkitd', `--root=${cachePath}`, '--oci-worker-snapshotter=overlayfs', '--oci-worker-gc=true'],
    args: [`--oci-worker-gc-keepstorage=${kept}`],
    resources: {
      requests: { cpu: `${Math.min(cpuMilli, 100)}m`, memory: `${Math.min(memoryMiB, 256)}Mi` },
      limits: { cpu: `${cpuMilli}m`, memory: `${memoryMiB}Mi` },
    },
    readinessProbe: { exec: { command: readyCommand }, periodSeconds: 5, timeoutSeconds: 10, failureThreshold: 3 },
    securityContext: { privileged: true },
    volumeMounts: [
      { name: 'cache', mountPath: cachePath },
      { name: 'run', mountPath: '/run' },
    ],
  }
}

const heads = (instance: string, apiVersion: string, kind: string, name: string) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: builderNamespaceName(instance), labels: builderLabels(instance) },
})
