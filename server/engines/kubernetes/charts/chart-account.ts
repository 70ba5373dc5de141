import { everyOne } from '../../../lib/every-one.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { RenderedObject } from '../../engine.ts'
import { kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { label, ownLabels } from '../labels.ts'
import { namespaceOf } from '../names.ts'
import { applyOwn } from '../own-objects.ts'

/** The service account that installs charts in the namespace of an environment, and its Role. */
export const accountName = 'quayside-charts'

/** The shortest life that API servers accept. */
const tokenSeconds = 3600

const whole = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * The rights of that account: what charts are made of, in one namespace. Rules that decide about
 * others are missing: network rules, quotas, Ingresses, which claim host names, and custom kinds.
 */
const rules: readonly { readonly group: string; readonly resources: Readonly<Record<string, string>> }[] = [
  {
    group: '',
    resources: {
      pods: 'Pod',
      services: 'Service',
      configmaps: 'ConfigMap',
      secrets: 'Secret',
      serviceaccounts: 'ServiceAccount',
      persistentvolumeclaims: 'PersistentVolumeClaim',
      endpoints: 'Endpoints',
      events: 'Event',
      'pods/log': '',
    },
  },
  {
    group: 'apps',
    resources: {
      deployments: 'Deployment',
      statefulsets: 'StatefulSet',
      daemonsets: 'DaemonSet',
      replicasets: 'ReplicaSet',
      'deployments/scale': '',
      'statefulsets/scale': '',
    },
  },
  { group: 'batch', resources: { jobs: 'Job', cronjobs: 'CronJob' } },
  { group: 'autoscaling', resources: { horizontalpodautoscalers: 'HorizontalPodAutoscaler' } },
  { group: 'policy', resources: { poddisruptionbudgets: 'PodDisruptionBudget' } },
  { group: 'discovery.k8s.io', resources: { endpointslices: 'EndpointSlice' } },
  { group: 'coordination.k8s.io', resources: { leases: 'Lease' } },
  { group: 'rbac.authorization.k8s.io', resources: { roles: 'Role', rolebindings: 'RoleBinding' } },
]

const granted = new Set(
  rules.flatMap(({ group, resources }) => Object.values(resources).map((kind) => `${group}/${kind}`)),
)

/** Whether the account may create objects of this kind. Pure. */
export const isGranted = ({ apiVersion, kind }: Pick<RenderedObject, 'apiVersion' | 'kind'>): boolean =>
  granted.has(`${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}/${kind}`)

/** Creates the account with its rights, and returns a token of it for an hour. Throws KubeError. */
export async function openAccount(host: KubeHost, environment: string, signal: AbortSignal): Promise<Secret> {
  const namespace = namespaceOf(environment)
  const metadata = {
    name: accountName,
    namespace,
    labels: ownLabels(host.instance, { [label.environment]: environment }),
  }
  const role = {
    apiVersion: kinds.role.apiVersion,
    kind: kinds.role.kind,
    metadata,
    rules: rules.map(({ group, resources }) => ({
      apiGroups: [group],
      resources: Object.keys(resources),
      verbs: whole,
    })),
  }
  const binding = {
    apiVersion: kinds.roleBinding.apiVersion,
    kind: kinds.roleBinding.kind,
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: accountName },
    subjects: [{ kind: 'ServiceAccount', name: accountName, namespace }],
  }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false }
  await everyOne([account, role, binding].map((object) => applyOwn(host, object, signal)))
  return host.kube.createToken({ namespace, name: accountName }, tokenSeconds, signal)
}
