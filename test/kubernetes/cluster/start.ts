import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { imageArchives } from './build.ts'
import { createCertificates, kubeconfigOf, pkiFile } from './certificates.ts'
import { ctr, kubectl, must, untilSucceeds } from './commands.ts'
import { configurationFiles } from './configuration.ts'
import { createNetwork } from './network.ts'
import { ensureProcess } from './processes.ts'
import {
  addresses,
  containerdSocket,
  etc,
  ingressKinds,
  kubeconfig,
  manifests,
  node,
  ports,
  state,
} from './settings.ts'

/**
 * Starts what is missing of the cluster: a node of Kubernetes with DNS, storage, metrics and an
 * ingress controller, and a registry. Returns the kubeconfig of an administrator once the node is
 * ready, names resolve and the controller answers. May be repeated, also after programs of the
 * cluster were killed.
 */
export async function startCluster(): Promise<string> {
  await createNetwork()
  await createCertificates()
  for (const [name, text] of Object.entries(configurationFiles())) {
    await mkdir(dirname(join(etc, name)), { recursive: true })
    await writeFile(join(etc, name), text)
  }
  await Promise.all(['kubelet', 'volumes'].map((name) => mkdir(join(state, name), { recursive: true })))
  for (const [name, program, args] of runtime()) await ensureProcess(name, program, args)
  await untilSucceeds('an answer of containerd', 30, () => must('ctr', ['--address', containerdSocket, 'version']))
  await importImages()
  await untilSucceeds('an answer of the API server', 60, () => kubectl(['get', '--raw', '/readyz']))
  for (const [name, program, args] of controllers()) await ensureProcess(name, program, args)
  await applyManifests()
  await untilSucceeds('the registration of the node', 90, () => kubectl(['get', 'node', node]))
  const timeoutMs = 120_000
  await kubectl(['wait', '--for=condition=Ready', `node/${node}`, '--timeout=90s'], { timeoutMs })
  for (const name of ['coredns', 'traefik']) {
    await kubectl(['-n', 'kube-system', 'rollout', 'status', `deployment/${name}`, '--timeout=90s'], { timeoutMs })
  }
  return kubeconfig
}

type Program = readonly [name: string, program: string, args: readonly string[]]

/** containerd, the registry, and the parts of Kubernetes that need no other part. */
const runtime = (): readonly Program[] => [
  ['containerd', 'containerd', ['--config', join(etc, 'containerd.toml')]],
  ['registry', 'docker-registry', ['serve', join(etc, 'registry.json')]],
  ['etcd', 'etcd', etcdFlags()],
  ['kube-apiserver', 'kube-apiserver', apiFlags()],
]

/** The default rate of the controllers' requests delays a start by five seconds. */
const quick = ['--bind-address=127.0.0.1', '--leader-elect=false', '--kube-api-qps=500', '--kube-api-burst=1000']

const controllers = (): readonly Program[] => [
  [
    'kube-proxy',
    'kube-proxy',
    [
      `--kubeconfig=${kubeconfigOf('proxy')}`,
      `--hostname-override=${node}`,
      '--proxy-mode=iptables',
      `--cluster-cidr=${addresses.pods}`,
      '--conntrack-max-per-core=0',
      '--bind-address=127.0.0.1',
    ],
  ],
  [
    'kube-controller-manager',
    'kube-controller-manager',
    [
      ...quick,
      `--kubeconfig=${kubeconfigOf('controller-manager')}`,
      `--service-account-private-key-file=${pkiFile('sa', 'key')}`,
      `--root-ca-file=${pkiFile('ca', 'crt')}`,
      '--use-service-account-credentials=true',
      `--cluster-signing-cert-file=${pkiFile('ca', 'crt')}`,
      `--cluster-signing-key-file=${pkiFile('ca', 'key')}`,
      '--cluster-name=test',
    ],
  ],
  ['kube-scheduler', 'kube-scheduler', [...quick, `--kubeconfig=${kubeconfigOf('scheduler')}`]],
  [
    'kubelet',
    'kubelet',
    [
      `--config=${join(etc, 'kubelet.json')}`,
      `--kubeconfig=${kubeconfigOf('kubelet')}`,
      `--root-dir=${join(state, 'kubelet')}`,
      `--hostname-override=${node}`,
      `--node-ip=${addresses.node}`,
      `--cert-dir=${join(state, 'kubelet', 'pki')}`,
      '--v=1',
    ],
  ],
]

const etcdClients = `http://127.0.0.1:${ports.etcd}`
const etcdPeers = `http://127.0.0.1:${ports.etcdPeers}`

/** Tests throw the data away, so etcd need not wait for the disk. */
const etcdFlags = (): readonly string[] => [
  `--data-dir=${join(state, 'etcd')}`,
  '--name=test',
  '--unsafe-no-fsync',
  '--log-level=warn',
  `--listen-client-urls=${etcdClients}`,
  `--advertise-client-urls=${etcdClients}`,
  `--listen-peer-urls=${etcdPeers}`,
  `--initial-advertise-peer-urls=${etcdPeers}`,
  `--initial-cluster=test=${etcdPeers}`,
]

const apiFlags = (): readonly string[] => [
  `--etcd-servers=${etcdClients}`,
  `--secure-port=${ports.api}`,
  '--bind-address=0.0.0.0',
  `--advertise-address=${addresses.node}`,
  `--service-cluster-ip-range=${addresses.services}`,
  '--authorization-mode=Node,RBAC',
  '--allow-privileged=true',
  `--client-ca-file=${pkiFile('ca', 'crt')}`,
  `--tls-cert-file=${pkiFile('apiserver', 'crt')}`,
  `--tls-private-key-file=${pkiFile('apiserver', 'key')}`,
  `--kubelet-certificate-authority=${pkiFile('ca', 'crt')}`,
  `--kubelet-client-certificate=${pkiFile('apiserver-kubelet', 'crt')}`,
  `--kubelet-client-key=${pkiFile('apiserver-kubelet', 'key')}`,
  '--kubelet-preferred-address-types=InternalIP',
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${pkiFile('sa', 'key')}`,
  `--service-account-signing-key-file=${pkiFile('sa', 'key')}`,
  `--requestheader-client-ca-file=${pkiFile('front-proxy-ca', 'crt')}`,
  '--requestheader-allowed-names=front-proxy-client',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-username-headers=X-Remote-User',
  `--proxy-client-cert-file=${pkiFile('front-proxy', 'crt')}`,
  `--proxy-client-key-file=${pkiFile('front-proxy', 'key')}`,
  '--enable-aggregator-routing=true',
]

/** Puts the images of the cache onto the node, as far as it lacks them. */
async function importImages(): Promise<void> {
  const present = (await ctr(['images', 'ls', '-q'])).split('\n')
  for (const [name, archive] of imageArchives()) {
    if (!present.includes(name)) await ctr(['images', 'import', '--all-platforms', archive])
  }
}

async function applyManifests(): Promise<void> {
  const files = (await readdir(manifests)).filter((name) => name.endsWith('.yaml'))
  const paths = [ingressKinds, ...files.map((name) => join(manifests, name))]
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  const stdin = texts.join('\n---\n').replaceAll('{{directory}}', state)
  await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin })
}
