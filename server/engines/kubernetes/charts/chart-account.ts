import { everyOne } from '../../../lib/every-one.ts'
import type { Secret } from '../../../lib/secret.ts'
import type { ChartPlace, RenderedObject } from '../../engine.ts'
import { kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { label, ownLabels } from '../labels.ts'
import { namespaceOf, safeId } from '../names.ts'
import { applyOwn } from '../own-objects.ts'

/** Names of the platform's accounts for charts begin with this. */
export const accountPrefix = 'quayside-chart'

/** Returns the name of the service account that installs one chart, and of its Role. */
export const accountName = ({ service }: Pick<ChartPlace, 'service'>): string =>
  `${accountPrefix}-${safeId(service).slice(-12)}`

/** The shortest life that API servers accept. */
const tokenSeconds = 3600
const closeMs = 10_000

const whole = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
const ofOneSecret = ['get', 'update', 'patch', 'delete']
/** Charts of before that wrote addresses can still be uninstalled. */
const ofAddresses = ['get', 'list', 'watch', 'delete']

/**
 * The rights of that account: what charts are made of, in one namespace. Rules that decide about
 * others are missing: network rules, quotas, Ingresses, which claim host names, and custom kinds.
 * Secrets have a rule of their own, and so have the addresses of Services: who writes these leads
 * traffic past network rules (CVE-2021-25740).
 */
const rules: readonly { readonly group: string; readonly resources: Readonly<Record<string, string>> }[] = [
  {
    group: '',
    resources: {
      pods: 'Pod',
      services: 'Service',
      configmaps: 'ConfigMap',
      serviceaccounts: 'ServiceAccount',
      persistentvolumeclaims: 'PersistentVolumeClaim',
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
  { group: 'coordination.k8s.io', resources: { leases: 'Lease' } },
  { group: 'rbac.authorization.k8s.io', resources: { roles: 'Role', rolebindings: 'RoleBinding' } },
]

const granted = new Set([
  '/Secret',
  ...rules.flatMap(({ group, resources }) => Object.values(resources).map((kind) => `${group}/${kind}`)),
])

/** Whether the account may create objects of this kind. Pure. */
export const isGranted = ({ apiVersion, kind }: Pick<RenderedObject, 'apiVersion' | 'kind'>): boolean =>
  granted.has(`${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}/${kind}`)

/**
 * Returns the rules of the account of a chart. It may read and change these Secrets alone, so the
 * API server refuses a Role of the chart that grants others. Pure.
 */
export const accountRules = (secrets: readonly string[]): readonly object[] => [
  ...rules.map(({ group, resources }) => ({
    apiGroups: [group],
    resources: Object.keys(resources),
    verbs: whole,
  })),
  { apiGroups: [''], resources: ['endpoints'], verbs: ofAddresses },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ofAddresses },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  // A rule without names would grant all.
  ...(secrets.length === 0
    ? []
    : [{ apiGroups: [''], resources: ['secrets'], verbs: ofOneSecret, resourceNames: [...secrets] }]),
]

/** The account of a chart for the time of a call. Its end removes it and its rights. */
export interface ChartAccount extends AsyncDisposable {
  /** Is valid for an hour at most. */
  readonly token: Secret
}

/** Creates the account of a chart with its rights. Throws KubeError. */
export async function openAccount(
  host: KubeHost,
  place: ChartPlace,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<ChartAccount> {
  const { environment } = place
  const [namespace, name] = [namespaceOf(environment), accountName(place)]
  const metadata = { name, namespace, labels: ownLabels(host.instance, { [label.environment]: environment }) }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false }
  const { role, roleBinding } = kinds
  const bound = {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  }
  const objects = [
    account,
    { apiVersion: role.apiVersion, kind: role.kind, metadata, rules: accountRules(secrets) },
    { apiVersion: roleBinding.apiVersion, kind: roleBinding.kind, metadata, ...bound },
  ]
  const close = async (): Promise<void> => {
    const limit = AbortSignal.timeout(closeMs)
    const owned = [kinds.roleBinding, kinds.role, kinds.serviceAccount]
    await everyOne(owned.map((kind) => host.kube.remove(kind, { namespace, name }, limit))).catch((error: unknown) => {
      host.log?.warn({ err: error, namespace, name }, 'the account of a chart is left until its next call')
    })
  }
  try {
    await everyOne(objects.map((object) => applyOwn(host, object, signal)))
    return {
      token: await host.kube.createToken({ namespace, name }, tokenSeconds, signal),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
