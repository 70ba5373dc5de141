/** A right on a kind of objects, in the words of a ClusterRole. */
export interface Right {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
  /** Only what needs it is lost without it. */
  readonly isOptional?: string
  /** A cluster whose own controller carries its traffic needs it. */
  readonly isForDomain?: true
}

const all = ['get', 'list', 'watch', 'create', 'patch', 'delete']

/**
 * The rights that the platform needs on a cluster. `docs/kubernetes.md` shows them as a
 * ClusterRole.
 */
export const rights: readonly Right[] = [
  { group: '', resource: 'namespaces', verbs: all },
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  { group: '', resource: 'pods/log', verbs: ['get'] },
  { group: '', resource: 'pods/exec', verbs: ['get', 'create'] },
  { group: '', resource: 'pods/portforward', verbs: ['get', 'create'] },
  { group: '', resource: 'services', verbs: all },
  { group: '', resource: 'secrets', verbs: all },
  { group: '', resource: 'persistentvolumeclaims', verbs: all },
  { group: '', resource: 'events', verbs: ['get', 'list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['get', 'list', 'watch'] },
  { group: 'apps', resource: 'deployments', verbs: all },
  { group: 'batch', resource: 'jobs', verbs: all },
  { group: 'networking.k8s.io', resource: 'networkpolicies', verbs: all },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: all },
  ...['resourcequotas', 'limitranges'].map((resource) => ({
    group: '',
    resource,
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
    isOptional: 'one environment could fill the cluster with objects',
  })),
  {
    group: 'autoscaling',
    resource: 'horizontalpodautoscalers',
    verbs: all,
    isOptional: 'services whose number of replicas may change cannot be deployed',
  },
  ...['scaledobjects', 'triggerauthentications'].map((resource) => ({
    group: 'keda.sh',
    resource,
    verbs: all,
    isOptional: 'services cannot scale by events, for which it needs KEDA as well',
  })),
  {
    group: 'networking.k8s.io',
    resource: 'ingresses',
    verbs: ['list', 'create', 'patch', 'delete'],
    isOptional: 'it cannot have a domain of its own',
    isForDomain: true,
  },
  {
    group: 'networking.k8s.io',
    resource: 'ingressclasses',
    verbs: ['list'],
    isOptional: 'it cannot have a domain of its own',
    isForDomain: true,
  },
  {
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    verbs: ['list'],
    isOptional: 'with a domain of its own, a cluster that is slow to follow a new version may lose requests',
  },
  ...['middlewares', 'serverstransports'].map((resource) => ({
    group: 'traefik.io',
    resource,
    verbs: ['list', 'create', 'patch', 'delete'],
    isOptional: 'rules of routes do not act in Traefik',
  })),
  {
    group: 'cert-manager.io',
    resource: 'certificates',
    verbs: ['list', 'create', 'patch', 'delete'],
    isOptional: 'cert-manager makes no certificates for services',
  },
  {
    group: 'cert-manager.io',
    resource: 'clusterissuers',
    verbs: ['get'],
    isOptional: 'the platform does not know why cert-manager makes no certificate',
  },
  {
    group: 'storage.k8s.io',
    resource: 'storageclasses',
    verbs: ['get', 'list'],
    isOptional: 'whether the cluster has storage is not checked',
  },
  ...[
    { group: '', resource: 'serviceaccounts', verbs: all },
    { group: '', resource: 'serviceaccounts/token', verbs: ['create'] },
    { group: '', resource: 'configmaps', verbs: all },
    { group: 'rbac.authorization.k8s.io', resource: 'roles', verbs: [...all, 'bind', 'escalate'] },
    { group: 'rbac.authorization.k8s.io', resource: 'rolebindings', verbs: all },
    ...['statefulsets', 'daemonsets', 'replicasets'].map((resource) => ({ group: 'apps', resource, verbs: all })),
    { group: 'batch', resource: 'cronjobs', verbs: all },
  ].map((right) => ({ ...right, isOptional: 'Helm charts cannot be deployed' })),
  { group: 'metrics.k8s.io', resource: 'pods', verbs: ['get', 'list'], isOptional: 'usage is not shown' },
  {
    group: 'metrics.k8s.io',
    resource: 'nodes',
    verbs: ['list'],
    isOptional: 'the usage of its nodes is not shown',
  },
]

/** Returns the rights as rules of a ClusterRole, one a line. Pure. */
export const roleRules = (): string =>
  rights
    .map(({ group, resource, verbs }) => {
      return `- { apiGroups: [${group || '""'}], resources: [${resource}], verbs: [${verbs.join(', ')}] }\n`
    })
    .join('')
