import { newId } from '../../../server/lib/id.ts'
import { imageName } from '../cluster/build.ts'
import { kubectl } from '../cluster/commands.ts'
import { openKube } from './access.ts'
import { untilReady } from './test-pod.ts'

/** An ingress controller of a class that the platform does not know. */
export interface OtherController {
  readonly className: string
  /** Where it answers HTTP. */
  readonly address: { readonly host: string; readonly port: number }
  close(): Promise<void>
}

const port = 8000

/**
 * Starts Traefik as the successor of ingress-nginx: it answers to the controller of that program,
 * reads some of its annotations and ignores others.
 */
export async function startOtherController(): Promise<OtherController> {
  const name = `other-${newId().slice(-8)}`
  const objects = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objectsOf(name) })
  const remove = async () => {
    await kubectl(['delete', '--filename=-', '--ignore-not-found', '--timeout=60s'], { stdin: objects })
  }
  const kube = openKube()
  try {
    await kubectl(['apply', '--server-side', '--filename=-'], { stdin: objects })
    const host = await untilReady(kube, { namespace: name, name })
    return { className: name, address: { host, port }, close: remove }
  } catch (error) {
    await remove()
    throw error
  } finally {
    kube.close()
  }
}

const read = ['list', 'watch']

const objectsOf = (name: string): readonly object[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: name } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name },
    rules: [
      { apiGroups: [''], resources: ['services', 'secrets', 'namespaces'], verbs: read },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
      { apiGroups: ['networking.k8s.io'], resources: ['ingresses', 'ingressclasses'], verbs: read },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: name }],
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name },
    spec: { controller: 'k8s.io/ingress-nginx' },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: name },
    spec: {
      serviceAccountName: name,
      containers: [
        {
          name: 'main',
          image: imageName('traefik'),
          imagePullPolicy: 'Never',
          args: [
            '--providers.kubernetesingressnginx=true',
            '--providers.kubernetesingressnginx.ingressclassbyname=true',
            `--providers.kubernetesingressnginx.ingressclass=${name}`,
            `--entrypoints.web.address=:${port}`,
            '--ping=true',
            '--global.checknewversion=false',
            '--global.sendanonymoususage=false',
          ],
          readinessProbe: { httpGet: { path: '/ping', port: 8080 }, periodSeconds: 1 },
          resources: { requests: { cpu: '10m', memory: '32Mi' } },
        },
      ],
    },
  },
]
