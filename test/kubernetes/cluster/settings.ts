import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Versions of the programs of the test cluster, which Go modules provide. */
export const versions = {
  kubernetes: '1.34.4',
  coredns: '1.15.0',
  'local-path-provisioner': '0.0.30',
  'metrics-server': '0.9.0',
} as const
/** The client with which tests install the chart of the platform. */
export const helmVersion = '3.22.0'
/** The newest one, with which services of the kind `helm` run too. */
export const helm4Version = '4.3.1'

/** The folder with the sources of programs that have a Go module of their own. */
export const modules = join(import.meta.dirname, 'modules')
/** The module of the builder's image, from `modules`. */
export const builderModule = '../../../../images/builder'
export const manifests = join(import.meta.dirname, 'manifests')

/** The programs of the node and the images of its own pods. */
const cache = cacheOf(
  'kubernetes',
  [versions, process.arch],
  ['hyper/go.mod', 'hyper/go.sum', 'hyper/main.go', 'pause/go.mod', 'pause/main.go'],
)
export const programs = join(cache, 'bin')
export const images = join(cache, 'images')
/** Traefik, its image and the definitions of its kinds. */
export const ingressCache = cacheOf('traefik', [process.arch], ['traefik/go.mod', 'traefik/go.sum'])
/** The definitions of Traefik's kinds, from its module. */
export const ingressKinds = join(ingressCache, 'kinds.yaml')
/** The controllers of cert-manager, and the definitions of its kinds. */
export const certManagerCache = cacheOf(
  'cert-manager',
  [process.arch],
  ['cert-manager/go.mod', 'cert-manager/go.sum', 'cert-manager/main.go'],
)
/** The definitions of cert-manager's kinds, from its module. */
export const certManagerKinds = join(certManagerCache, 'kinds.yaml')
/** The builder's programs: the daemon and the client that connects to it. */
export const buildKitCache = cacheOf('buildkit', [process.arch], [`${builderModule}/go.mod`, `${builderModule}/go.sum`])
export const helmCache = cacheOf('helm', [helmVersion, process.arch], [])
export const helm4Cache = cacheOf('helm4', [helm4Version, process.arch], [])

/**
 * The state of the running cluster. A machine has at most one, because its addresses are fixed. Its
 * path is short, since a socket's path has at most 107 characters.
 */
export const state = '/var/tmp/quayside-kubernetes'
export const run = join(state, 'run')
export const logs = join(state, 'log')
export const etc = join(state, 'etc')
export const pki = join(etc, 'pki')
export const containerdSocket = join(run, 'containerd.sock')
/** The kubeconfig of an administrator of the cluster. */
export const kubeconfig = join(etc, 'admin.kubeconfig')

export const node = 'quayside-node'
/** An empty bridge has the address of the node, so that nothing leaves by a real interface. */
export const nodeBridge = 'qsk-node'
export const podBridge = 'qsk-pods'
export const addresses = {
  node: '10.97.0.1',
  podGateway: '10.244.0.1',
  pods: '10.244.0.0/24',
  services: '10.96.0.0/16',
  api: '10.96.0.1',
  dns: '10.96.0.10',
} as const
export const ports = {
  api: 6443,
  registry: 5000,
  etcd: 2379,
  etcdPeers: 2380,
  /** HTTP of the ingress controller, at the address of the node. */
  ingress: 30_088,
  /** HTTPS of the same. */
  secureIngress: 30_443,
} as const

/**
 * Returns the directory of what is built from these values and files. Its name changes with them,
 * so a change of one program does not rebuild the others.
 */
function cacheOf(name: string, values: readonly unknown[], files: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(values))
  for (const file of files) hash.update(readFileSync(join(modules, file)))
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  return join(caches, 'quayside', `${name}-${hash.digest('hex').slice(0, 12)}`)
}
