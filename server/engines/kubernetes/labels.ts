/**
 * Labels of everything that the platform creates on a cluster, and the only way to find it again.
 */
export const label = {
  manager: 'app.kubernetes.io/managed-by',
  instance: 'quayside.io/instance',
  environment: 'quayside.io/environment',
  service: 'quayside.io/service',
  release: 'quayside.io/release',
  run: 'quayside.io/run',
  volume: 'quayside.io/volume',
  /** On objects of all releases of a service, such as its names. */
  alias: 'quayside.io/alias',
  /** On objects of a router, which removes those that no route needs. */
  route: 'quayside.io/route',
  /** On the platform's own routers in a cluster, and on the objects that they need. */
  router: 'quayside.io/router',
  /** On the builder in a cluster, and on the objects that it needs. */
  builder: 'quayside.io/builder',
  /** On pods that read or write a volume. */
  helper: 'quayside.io/helper',
  /** On the objects of Helm charts. */
  chart: 'quayside.io/chart',
  /** On Deployments without replicas while their volumes are copied. */
  held: 'quayside.io/held',
} as const

export const annotation = {
  /** The name of the service, for people. */
  name: 'quayside.io/name',
  /** The ports of a replica, separated by commas. */
  ports: 'quayside.io/ports',
  /** The number of replicas that a Deployment gets back after a copy of its volumes. */
  heldReplicas: 'quayside.io/held-replicas',
  /** The other objects of a release or an environment, separated by spaces. */
  objects: 'quayside.io/objects',
  /** A hash of the fields that the platform owned after its last apply. */
  applied: 'quayside.io/applied',
  /** Kubernetes ends pods with a lower cost first. */
  deletionCost: 'controller.kubernetes.io/pod-deletion-cost',
} as const

export const manager = 'quayside'

/**
 * Returns the value of the label of an installation on one of its clusters. One that is connected
 * twice has two, so that neither record touches the objects of the other.
 */
export const instanceOn = (installation: string, clusterId: string): string => `${installation}-${clusterId.slice(-12)}`

/** Returns the labels of an object of this installation. */
export const ownLabels = (instance: string, more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  [label.manager]: manager,
  [label.instance]: instance,
  ...more,
})

/** Returns the labels of an object that carries routes of this installation. */
export const routeLabels = (instance: string): Record<string, string> => ownLabels(instance, { [label.route]: 'true' })

/** Returns the labels of an object that opens a TCP or UDP port. Objects of routes have others. */
export const portLabels = (instance: string): Record<string, string> => ownLabels(instance, { [label.route]: 'port' })

/** Returns the labels of a Secret that cert-manager fills with a certificate for a route. */
export const issuedLabels = (instance: string): Record<string, string> =>
  ownLabels(instance, { [label.route]: 'certificate' })

/** Returns the labels of the platform's own routers in a cluster. */
export const routerLabels = (instance: string): Record<string, string> =>
  ownLabels(instance, { [label.router]: 'true' })

/** Selects the namespaces of this installation's environments. */
export const environmentsOf = (instance: string) => ({
  matchLabels: { [label.instance]: instance },
  matchExpressions: [{ key: label.environment, operator: 'Exists' }],
})
