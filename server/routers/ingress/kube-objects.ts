/** An object of Kubernetes. Members beside `metadata` are passed on unread. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly resourceVersion?: string
  }
}

/** A kind of objects, as the paths of the API name it. */
export interface KubeKind {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  readonly isNamespaced: boolean
}

/**
 * What the router needs of a client of one cluster. Every call throws the reason of its signal, or
 * an error with the HTTP status of the answer as `status`, 0 without an answer.
 */
export interface KubeObjects {
  create(object: KubeObject, signal: AbortSignal): Promise<KubeObject>
  /** Creates or changes an object. Fields of an earlier apply that this one lacks are removed. */
  apply(object: KubeObject, signal: AbortSignal): Promise<KubeObject>
  /** Returns an object. Undefined if it does not exist. */
  get(
    kind: KubeKind,
    place: { readonly namespace?: string | undefined; readonly name: string },
    signal: AbortSignal,
  ): Promise<KubeObject | undefined>
  /** Lists the objects of all namespaces that have these labels. */
  list(
    kind: KubeKind,
    selection: { readonly labels: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly KubeObject[] }>
  /** Returns false if the object does not exist. */
  remove(
    kind: KubeKind,
    place: { readonly namespace?: string | undefined; readonly name: string },
    signal: AbortSignal,
  ): Promise<boolean>
}

const namespaced = (apiVersion: string, kind: string, plural: string): KubeKind => ({
  apiVersion,
  kind,
  plural,
  isNamespaced: true,
})

/** The kinds of the router's objects, in the order in which they refer to each other. */
export const routeKinds = {
  secret: namespaced('v1', 'Secret', 'secrets'),
  middleware: namespaced('traefik.io/v1alpha1', 'Middleware', 'middlewares'),
  networkPolicy: namespaced('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  serversTransport: namespaced('traefik.io/v1alpha1', 'ServersTransport', 'serverstransports'),
  service: namespaced('v1', 'Service', 'services'),
  ingress: namespaced('networking.k8s.io/v1', 'Ingress', 'ingresses'),
} as const satisfies Record<string, KubeKind>

export const certManagerGroup = 'cert-manager.io'
/** The kinds of cert-manager. */
export const tlsKinds = {
  certificate: namespaced(`${certManagerGroup}/v1`, 'Certificate', 'certificates'),
  clusterIssuer: { ...namespaced(`${certManagerGroup}/v1`, 'ClusterIssuer', 'clusterissuers'), isNamespaced: false },
} as const satisfies Record<string, KubeKind>

/** The addresses behind a Service. The cluster writes them. */
export const sliceKind: KubeKind = namespaced('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices')

export const nodeKind: KubeKind = { apiVersion: 'v1', kind: 'Node', plural: 'nodes', isNamespaced: false }

export const namespaceKind: KubeKind = {
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isNamespaced: false,
}

/** Returns the HTTP status of an error of the client. Undefined for other errors. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined
