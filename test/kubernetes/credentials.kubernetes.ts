import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { importPKCS8, SignJWT } from 'jose'
import { kinds } from '../../server/engines/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { newId } from '../../server/lib/id.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { pkiFile } from './cluster/certificates.ts'
import { kubectl, must } from './cluster/commands.ts'
import { ports } from './cluster/settings.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// Credentials that a real API server no longer accepts. The tests build on each other.

let server: ServerProcess
let cluster: AddedCluster
let application: TestApplication
const kube = openKube()
const namespace = `test-${newId().slice(-8)}`
const directory = await mkdtemp(join(tmpdir(), 'quayside-credentials-'))
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  await kubectl(['create', 'namespace', namespace])
  await kubectl(['create', 'serviceaccount', 'quayside', '--namespace', namespace])
  const admin = [`--serviceaccount=${namespace}:quayside`, '--clusterrole=cluster-admin']
  await kubectl(['create', 'clusterrolebinding', namespace, ...admin])
  server = await startServer({ env: clusterSettings('credentials') })
  cluster = await addDeployedCluster(server, 'far')
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  application = await makeApplication(server, { environmentId, name: 'web', settings: { cpu: 100 } })
  await application.run(web('first'))
})
after(async () => {
  await application?.git.remove()
  await server?.close()
  if (application) await kube.remove(kinds.namespace, { name: `quayside-${application.environmentId}` }, limit())
  await kubectl(['delete', 'clusterrolebinding', namespace, '--ignore-not-found'])
  await kubectl(['delete', 'namespace', namespace, '--wait=false', '--ignore-not-found'])
  await rm(directory, { recursive: true })
  kube.close()
})

const base64 = async (file: string): Promise<string> => (await readFile(file)).toString('base64')

/** Returns a kubeconfig of this user. `authority` is a file. */
async function kubeconfigOf(user: object, authority = pkiFile('ca', 'crt')): Promise<string> {
  const one = { server: `https://127.0.0.1:${ports.api}`, 'certificate-authority-data': await base64(authority) }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: one }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}

/** Returns an administrator whose certificate expired in 2021. */
async function expiredUser(): Promise<object> {
  const [key, request, certificate] = ['key', 'request', 'crt'].map((name) => join(directory, name))
  const [keyFile, requestFile, file] = [key ?? '', request ?? '', certificate ?? '']
  await must('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', keyFile])
  await must('openssl', ['req', '-new', '-key', keyFile, '-subj', '/O=system:masters/CN=late', '-out', requestFile])
  const index = join(directory, 'index')
  await writeFile(index, '')
  const config = join(directory, 'ca.conf')
  const lines = ['[ca]', 'default_ca=a', '[a]', `database=${index}`, `new_certs_dir=${directory}`, 'default_md=sha256']
  const policy = ['policy=p', 'rand_serial=yes', 'x509_extensions=e', '[p]', 'O=supplied', 'CN=supplied']
  await writeFile(config, [...lines, ...policy, '[e]', 'extendedKeyUsage=clientAuth', ''].join('\n'))
  const by = ['-cert', pkiFile('ca', 'crt'), '-keyfile', pkiFile('ca', 'key')]
  const times = ['-startdate', '20200101000000Z', '-enddate', '20210101000000Z']
  await must('openssl', [
    'ca',
    '-batch',
    '-config',
    config,
    ...by,
    ...times,
    '-in',
    requestFile,
    '-out',
    file,
    '-notext',
  ])
  return { 'client-certificate-data': await base64(file), 'client-key-data': await base64(keyFile) }
}

/** Returns a service account whose token the cluster signed, and which has expired. */
async function expiredToken(): Promise<object> {
  const key = await importPKCS8(
    await must('openssl', ['pkcs8', '-topk8', '-nocrypt', '-in', pkiFile('sa', 'key')]),
    'ES256',
  )
  const { uid } = JSON.parse(
    await kubectl(['get', 'serviceaccount', 'quayside', '--namespace', namespace, '--output=json']),
  ).metadata
  const account = { namespace, serviceaccount: { name: 'quayside', uid } }
  const token = await new SignJWT({ 'kubernetes.io': account })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer('https://kubernetes.default.svc')
    .setAudience('https://kubernetes.default.svc')
    .setSubject(`system:serviceaccount:${namespace}:quayside`)
    .setIssuedAt(1_600_000_000)
    .setNotBefore(1_600_000_000)
    .setExpirationTime(1_600_003_600)
    .sign(key)
  return { token }
}

const newToken = async (): Promise<string> =>
  (await kubectl(['create', 'token', 'quayside', '--namespace', namespace, '--duration=1h'])).trim()

const health = async () =>
  server.must<{ status: string; health?: { state: string; reason?: string } }>('GET', `${cluster.path}/status`)

/** Waits until the cluster is refused for this reason. */
const untilRefused = (reason: RegExp): Promise<unknown> =>
  until(`the cluster is refused with ${reason}`, async () => {
    const { status, health: seen } = await health()
    return status === 'INVALID_CREDENTIALS' && seen?.state === 'REFUSED' && reason.test(seen.reason ?? '')
  })

async function isUntouched(body = 'first'): Promise<void> {
  const { items } = await kube.list(kinds.pod, { labels: { [label.service]: application.id } }, limit())
  assert.equal(items.length, 1)
  assert.deepEqual(await application.answer(), { status: 200, body })
}

async function recover(text: string): Promise<void> {
  assert.equal((await cluster.putKubeconfig(text)).status, 204)
  await until('the cluster is known again', async () => (await health()).health?.state === 'REACHABLE')
  assert.equal((await health()).status, 'DEPLOYED')
}

const other = async (): Promise<string> => {
  const file = join(directory, 'other.crt')
  const out = ['-subj', '/CN=other', '-days', '10', '-keyout', join(directory, 'other.key'), '-out', file]
  await must('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', ...out])
  return file
}

const cases = [
  [
    'a client certificate that has expired',
    async () => kubeconfigOf(await expiredUser()),
    /its client certificate expired at 2021-01-01T00:00:00\.000Z/,
  ],
  [
    'a token that has expired',
    async () => kubeconfigOf(await expiredToken()),
    /its token expired at 2020-09-13T13:26:40\.000Z/,
  ],
  [
    'another authority',
    async () => kubeconfigOf({ token: await newToken() }, await other()),
    /is not accepted \([A-Z_]+\); send a new kubeconfig/,
  ],
] as const

for (const [what, kubeconfig, reason] of cases) {
  test(`a cluster with ${what} is refused with this reason, and its service continues`, async () => {
    const stored = await cluster.putKubeconfig(await kubeconfig())
    assert.equal(stored.status, 204, stored.message)
    await untilRefused(reason)
    await isUntouched()
  })
}

test('a deployment fails with the reason, and succeeds once the right kubeconfig is stored', async () => {
  await application.ship(web('second'))
  const { state, reason } = await application.settles(120_000)
  assert.notEqual(state, 'DEPLOYED')
  assert.match(String(reason), /does not accept the kubeconfig/)
  await isUntouched()
  await recover(await kubeconfigOf({ token: await newToken() }))
  await application.run(web('second'))
  assert.deepEqual(await application.answer(), { status: 200, body: 'second' })
})

test('a token that is revoked while it is used is refused, and a new one is accepted', async () => {
  await kubectl(['delete', 'serviceaccount', 'quayside', '--namespace', namespace])
  await untilRefused(/does not accept the kubeconfig \(Unauthorized\); send a new one/)
  await isUntouched('second')
  await kubectl(['create', 'serviceaccount', 'quayside', '--namespace', namespace])
  await recover(await kubeconfigOf({ token: await newToken() }))
  await application.run(web('third'))
  assert.deepEqual(await application.answer(), { status: 200, body: 'third' })
})
