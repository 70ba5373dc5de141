import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { must } from './commands.ts'
import { addresses, etc, kubeconfig, node, pki, ports } from './settings.ts'

interface Certificate {
  readonly name: string
  readonly subject: string
  readonly names?: string
  readonly authority?: 'ca' | 'front-proxy-ca'
}

const apiNames = [
  ...['127.0.0.1', addresses.node, addresses.api].map((address) => `IP:${address}`),
  'DNS:localhost',
  ...['', '.default', '.default.svc', '.default.svc.cluster.local'].map((suffix) => `DNS:kubernetes${suffix}`),
].join(',')

const certificates: readonly Certificate[] = [
  { name: 'apiserver', subject: '/CN=kube-apiserver', names: apiNames },
  { name: 'apiserver-kubelet', subject: '/O=system:masters/CN=kube-apiserver-kubelet-client' },
  { name: 'front-proxy', subject: '/CN=front-proxy-client', authority: 'front-proxy-ca' },
  {
    name: 'kubelet-server',
    subject: `/O=system:nodes/CN=system:node:${node}`,
    names: `DNS:${node},IP:${addresses.node}`,
  },
  { name: 'kubelet', subject: `/O=system:nodes/CN=system:node:${node}` },
  { name: 'controller-manager', subject: '/CN=system:kube-controller-manager' },
  { name: 'scheduler', subject: '/CN=system:kube-scheduler' },
  { name: 'proxy', subject: '/CN=system:kube-proxy' },
  { name: 'admin', subject: '/O=system:masters/CN=admin' },
]

const users = ['kubelet', 'controller-manager', 'scheduler', 'proxy', 'admin']

/** Creates the authorities, certificates and kubeconfigs of a cluster, unless they exist. */
export async function createCertificates(): Promise<void> {
  if (existsSync(kubeconfig)) return
  await mkdir(pki, { recursive: true, mode: 0o700 })
  for (const name of ['ca', 'front-proxy-ca']) await createAuthority(name)
  await createKey('sa')
  for (const certificate of certificates) await createCertificate(certificate)
  // The administrator's file is the last, because it says that all of them exist.
  for (const user of users) await writeKubeconfig(user)
}

/** The file of the cluster's pki with this name and ending. */
export const pkiFile = (name: string, ending: 'crt' | 'key'): string => join(pki, `${name}.${ending}`)

const createKey = (name: string): Promise<string> =>
  must('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', pkiFile(name, 'key')])

async function createAuthority(name: string): Promise<void> {
  await createKey(name)
  const out = ['-days', '3650', '-subj', `/CN=${name}`, '-out', pkiFile(name, 'crt')]
  await must('openssl', ['req', '-x509', '-new', '-key', pkiFile(name, 'key'), ...out])
}

async function createCertificate({ name, subject, names, authority = 'ca' }: Certificate): Promise<void> {
  await createKey(name)
  const folder = await mkdtemp(join(tmpdir(), 'quayside-certificate-'))
  try {
    const [request, extensions] = [join(folder, 'request'), join(folder, 'extensions')]
    await must('openssl', ['req', '-new', '-key', pkiFile(name, 'key'), '-subj', subject, '-out', request])
    const usage = 'extendedKeyUsage=serverAuth,clientAuth\n'
    await writeFile(extensions, names ? `${usage}subjectAltName=${names}\n` : usage)
    const by = ['-CA', pkiFile(authority, 'crt'), '-CAkey', pkiFile(authority, 'key'), '-CAcreateserial']
    const rest = ['-days', '3650', '-in', request, '-extfile', extensions, '-out', pkiFile(name, 'crt')]
    await must('openssl', ['x509', '-req', ...by, ...rest])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeKubeconfig(user: string): Promise<void> {
  const read = async (name: string, ending: 'crt' | 'key') => (await readFile(pkiFile(name, ending))).toString('base64')
  const cluster = {
    server: `https://127.0.0.1:${ports.api}`,
    'certificate-authority-data': await read('ca', 'crt'),
  }
  const credentials = { 'client-certificate-data': await read(user, 'crt'), 'client-key-data': await read(user, 'key') }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  }
  await writeFile(kubeconfigOf(user), JSON.stringify(config, null, 2), { mode: 0o600 })
}

export const kubeconfigOf = (user: string): string => join(etc, `${user}.kubeconfig`)
