import type { KubeObject } from '../ingress/kube-objects.ts'
import { type KeptKind, keptCertificates, keptFolder, keptTable, keptVolume } from './kept-objects.ts'
import { heads } from './object-heads.ts'

/** How clients reach the routers of a cluster, as the operator chose it. */
export type RouterExposure =
  | { readonly type: 'LoadBalancer' }
  /** Without a port, the cluster chooses it. */
  | ({ readonly type: 'NodePort' } & NodePorts)

/** The ports of HTTP and HTTPS at nodes. */
interface NodePorts {
  readonly nodePort?: number
  readonly tlsNodePort?: number
}

/** The operator's settings of routers in clusters. */
export interface PodRouterSettings {
  /** The image of the router, as nodes name it. It starts `router/main.ts` with the given flags. */
  readonly image: string
  readonly replicas: number
  readonly exposure: RouterExposure
  /** Networks whose `X-Forwarded-*` headers are trusted. */
  readonly trusted: readonly string[]
  /** Networks whose connections begin with a PROXY header. None by default. */
  readonly proxies?: readonly string[]
  /**
   * Whether the cluster keeps certificates with their private keys in Secrets, for routers that
   * start while the platform is away. They are in the memory of routers only by default.
   */
  readonly keepsKeys?: boolean
  /** The most connections of each pod, and of one client among them. */
  readonly connections: { readonly total: number; readonly perClient: number }
}

/** The values on which the objects of a cluster's routers depend. */
export interface RouterObjectSetting extends PodRouterSettings {
  readonly namespace: string
  /** Labels of every object of the router. */
  readonly labels: Readonly<Record<string, string>>
  /** Labels of the namespaces to whose pods the routers may connect. */
  readonly reached: object
  /** A Docker configuration with credentials of the registry. Undefined if it needs none. */
  readonly pullConfig?: string | undefined
  /** Whether the routers speak HTTPS as well. */
  readonly speaksTls?: boolean
}

/** The name of the Deployment, the Service and the other objects of the router. */
export const routerName = 'router'
export const keySecretName = 'router-key'
const pullSecretName = 'router-registry'

const ports = { traffic: 8080, ready: 8081, tls: 8443 } as const
/** The ports of the Service, which clients use. */
const publicPorts = { traffic: 80, tls: 443 } as const
/** Only reached inside of the pod. */
export const controlPort = 8082
/** Nodes and load balancers learn of the end of a pod within this time. */
const leaveSeconds = 10
/** Enough for `leaveSeconds`, sleeping services that wake up, and open requests. */
const graceSeconds = leaveSeconds + 60
/** A user without a name or a home. */
const user = 10_001

/** Whether the cluster keeps certificates with their keys. Pure. */
export const keepsCertificates = (setting: RouterObjectSetting): boolean =>
  (setting.keepsKeys ?? false) && (setting.speaksTls ?? false)

/** Returns the documents that the cluster keeps for its routers. */
const keptKinds = (setting: RouterObjectSetting): readonly KeptKind[] =>
  keepsCertificates(setting) ? [keptTable, keptCertificates] : [keptTable]

/** The namespace of the routers. It accepts no pod with more rights than theirs. */
export const routerNamespace = ({ namespace: name, labels }: RouterObjectSetting): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } },
})

/** Returns the objects of the routers, without their namespace and their key. Pure. */
export function routerObjects(setting: RouterObjectSetting): readonly KubeObject[] {
  const { pullConfig } = setting
  return [
    ...(pullConfig === undefined ? [] : [pullSecret(setting, pullConfig)]),
    networkPolicy(setting),
    disruptionBudget(setting),
    deployment(setting),
    service(setting),
  ]
}

/** The Secret with the key of control requests. */
export const keySecret = (setting: RouterObjectSetting, key: string): KubeObject & { readonly data: object } => ({
  ...heads(setting, 'v1', 'Secret', keySecretName),
  data: { key: Buffer.from(key).toString('base64') },
})

function pullSecret(setting: RouterObjectSetting, config: string) {
  return {
    ...heads(setting, 'v1', 'Secret', pullSecretName),
    ...{ type: 'kubernetes.io/dockerconfigjson' },
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  }
}

/**
 * Everybody reaches the ports of traffic. The routers reach the pods of environments and the name
 * servers, and nothing else. Nodes ask for readiness in any case.
 */
const networkPolicy = (setting: RouterObjectSetting) => ({
  ...heads(setting, 'networking.k8s.io/v1', 'NetworkPolicy', routerName),
  spec: {
    podSelector: {},
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: trafficPorts(setting).map(({ port }) => ({ port, protocol: 'TCP' })) }],
    egress: [
      { to: [{ namespaceSelector: setting.reached }] },
      {
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
    ],
  },
})

const disruptionBudget = (setting: RouterObjectSetting) => ({
  ...heads(setting, 'policy/v1', 'PodDisruptionBudget', routerName),
  spec: {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
    selector: { matchLabels: setting.labels },
  },
})

/** Nodes pass requests only to their own routers, so that the addresses of clients are kept. */
function service(setting: RouterObjectSetting) {
  const { exposure, labels } = setting
  return {
    ...heads(setting, 'v1', 'Service', routerName),
    spec: {
      type: exposure.type,
      externalTrafficPolicy: 'Local',
      selector: labels,
      ports: trafficPorts(setting).map(({ name, at, port, nodePort }) => ({
        name,
        port: at,
        targetPort: port,
        protocol: 'TCP',
        ...(nodePort !== undefined && { nodePort }),
      })),
    },
  }
}

/** Returns the ports of clients: `at` of the Service, and `port` of the pods. */
function trafficPorts({ exposure, speaksTls = false }: RouterObjectSetting) {
  const { nodePort, tlsNodePort }: NodePorts = exposure.type === 'NodePort' ? exposure : {}
  const plain = { name: 'http', at: publicPorts.traffic, port: ports.traffic, nodePort }
  const secure = { name: 'https', at: publicPorts.tls, port: ports.tls, nodePort: tlsNodePort }
  return speaksTls ? [plain, secure] : [plain]
}

function deployment(setting: RouterObjectSetting) {
  const { labels, replicas, pullConfig } = setting
  return {
    ...heads(setting, 'apps/v1', 'Deployment', routerName),
    spec: {
      replicas,
      selector: { matchLabels: labels },
      // A router leaves once its successor has the table.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      // Nodes learn of a new pod within this time.
      minReadySeconds: 3,
      revisionHistoryLimit: 1,
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: graceSeconds,
          ...(pullConfig !== undefined && { imagePullSecrets: [{ name: pullSecretName }] }),
          securityContext: {
            runAsNonRoot: true,
            runAsUser: user,
            runAsGroup: user,
            fsGroup: user,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          affinity: { podAntiAffinity: apart(labels) },
          containers: [container(setting)],
          volumes: [
            { name: 'key', secret: { secretName: keySecretName, defaultMode: 0o440 } },
            ...keptKinds(setting).map(keptVolume),
            { name: 'state', emptyDir: { sizeLimit: '128Mi' } },
          ],
        },
      },
    },
  }
}

const apart = (labels: RouterObjectSetting['labels']) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [
    { weight: 100, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } } },
  ],
})

function container(setting: RouterObjectSetting) {
  const { image, trusted, proxies = [], connections, speaksTls = false } = setting
  const probe = (path: string) => ({ httpGet: { path, port: ports.ready }, timeoutSeconds: 2 })
  const flags = {
    host: '$(POD_IP)',
    port: ports.traffic,
    ...(speaksTls && {
      'tls-port': ports.tls,
      'public-port': publicPorts.traffic,
      'public-tls-port': publicPorts.tls,
    }),
    'control-port': controlPort,
    'control-key': '/quayside/key/key',
    'ready-port': ports.ready,
    stored: keptFolder(keptTable),
    ...(keepsCertificates(setting) && { 'stored-certificates': keptFolder(keptCertificates) }),
    state: '/quayside/state/routes.json',
    'leave-seconds': leaveSeconds,
    connections: connections.total,
    'connections-per-client': connections.perClient,
    ...(trusted.length > 0 && { trusted: trusted.join(',') }),
    ...(proxies.length > 0 && { proxies: proxies.join(',') }),
  }
  return {
    name: routerName,
    image,
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
    env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    ports: trafficPorts(setting).map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' })),
    resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '512Mi' } },
    readinessProbe: { ...probe('/ready'), periodSeconds: 1, failureThreshold: 3 },
    livenessProbe: { ...probe('/alive'), periodSeconds: 10, failureThreshold: 6 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'key', mountPath: '/quayside/key', readOnly: true },
      ...keptKinds(setting).map((kind) => ({ name: kind.volume, mountPath: keptFolder(kind), readOnly: true })),
      { name: 'state', mountPath: '/quayside/state' },
    ],
  }
}
