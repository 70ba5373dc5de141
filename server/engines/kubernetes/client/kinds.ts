import type {
  AccessReview,
  ConfigMap,
  CronJob,
  CustomObject,
  Deployment,
  EndpointSlice,
  EventObject,
  Ingress,
  Job,
  KubeObject,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  SecretObject,
  Service,
  StorageClass,
} from './objects.ts'

/** A kind of objects, as the paths of the API name it. `T` is what we read of its objects. */
export interface Kind<T extends KubeObject = KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  /** The segment of the path. */
  readonly plural: string
  readonly isNamespaced: boolean
  /** Exists for the type only. */
  readonly of?: T
}

const namespaced = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Kind<T> => ({
  apiVersion,
  kind,
  plural,
  isNamespaced: true,
})
const global = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Kind<T> => ({
  apiVersion,
  kind,
  plural,
  isNamespaced: false,
})

/** The kinds that the platform reads or writes. */
export const kinds = {
  namespace: global<Namespace>('v1', 'Namespace', 'namespaces'),
  node: global<Node>('v1', 'Node', 'nodes'),
  pod: namespaced<Pod>('v1', 'Pod', 'pods'),
  service: namespaced<Service>('v1', 'Service', 'services'),
  secret: namespaced<SecretObject>('v1', 'Secret', 'secrets'),
  configMap: namespaced<ConfigMap>('v1', 'ConfigMap', 'configmaps'),
  serviceAccount: namespaced('v1', 'ServiceAccount', 'serviceaccounts'),
  event: namespaced<EventObject>('v1', 'Event', 'events'),
  volumeClaim: namespaced<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  resourceQuota: namespaced<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas'),
  limitRange: namespaced('v1', 'LimitRange', 'limitranges'),
  deployment: namespaced<Deployment>('apps/v1', 'Deployment', 'deployments'),
  statefulSet: namespaced<Deployment>('apps/v1', 'StatefulSet', 'statefulsets'),
  daemonSet: namespaced<Deployment>('apps/v1', 'DaemonSet', 'daemonsets'),
  replicaSet: namespaced<Deployment>('apps/v1', 'ReplicaSet', 'replicasets'),
  cronJob: namespaced<CronJob>('batch/v1', 'CronJob', 'cronjobs'),
  role: namespaced('rbac.authorization.k8s.io/v1', 'Role', 'roles'),
  roleBinding: namespaced('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'),
  job: namespaced<Job>('batch/v1', 'Job', 'jobs'),
  networkPolicy: namespaced('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  ingress: namespaced<Ingress>('networking.k8s.io/v1', 'Ingress', 'ingresses'),
  ingressClass: global<CustomObject>('networking.k8s.io/v1', 'IngressClass', 'ingressclasses'),
  endpointSlice: namespaced<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  middleware: namespaced<CustomObject>('traefik.io/v1alpha1', 'Middleware', 'middlewares'),
  serversTransport: namespaced<CustomObject>('traefik.io/v1alpha1', 'ServersTransport', 'serverstransports'),
  disruptionBudget: namespaced('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  autoscaler: namespaced('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
  scaledObject: namespaced('keda.sh/v1alpha1', 'ScaledObject', 'scaledobjects'),
  triggerAuthentication: namespaced('keda.sh/v1alpha1', 'TriggerAuthentication', 'triggerauthentications'),
  certificate: namespaced<CustomObject>('cert-manager.io/v1', 'Certificate', 'certificates'),
  clusterIssuer: global<CustomObject>('cert-manager.io/v1', 'ClusterIssuer', 'clusterissuers'),
  definition: global('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions'),
  storageClass: global<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses'),
  selfReview: global('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews'),
  accessReview: global<AccessReview>('authorization.k8s.io/v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews'),
} as const satisfies Record<string, Kind>

const byName = new Map<string, Kind>(Object.values(kinds).map((one) => [`${one.apiVersion}/${one.kind}`, one]))

/** Returns the kind of an object. Throws if the platform does not use it. */
export function kindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind {
  const found = byName.get(`${apiVersion}/${kind}`)
  if (!found) throw new Error(`the kind ${apiVersion}/${kind} is not in the table of kinds`)
  return found
}

/** Returns the path of a kind's objects, or of one of them. */
export function pathOf(
  { apiVersion, plural, isNamespaced }: Kind,
  at: { readonly namespace?: string | undefined; readonly name?: string | undefined },
): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const place = isNamespaced && at.namespace !== undefined ? `/namespaces/${encodeURIComponent(at.namespace)}` : ''
  return `${group}${place}/${plural}${at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`}`
}
