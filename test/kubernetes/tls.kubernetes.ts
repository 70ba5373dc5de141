import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn, ownLabels, routeLabels } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { kubectl } from './cluster/commands.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'
import { askSecurely } from './support/ask-securely.ts'
import { type CertManager, installKinds, makeIssuer, startCertManager } from './support/cert-manager.ts'
import { askController } from './support/ingress-bench.ts'
import { makeCertificate, type TestCertificate } from './support/make-certificate.ts'

// HTTPS of a cluster with a domain of its own, whose ingress controller is Traefik. The tests build
// on each other.

const domain = 'tls.far.test'
const customDomain = 'shop.tls-example.test'
const issuer = 'quayside-test-tls'
const redirecting = 'network.ingress.force_ssl_redirect'
let server: ServerProcess
let cluster: AddedCluster
let application: TestApplication
let wildcard: TestCertificate
let authority: TestCertificate
let certManager: CertManager | undefined
let host: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const instance = (): string => instanceOn(server.instance, cluster.id)
const given = (): string => `quayside-certificates-${instance()}`

interface Link {
  readonly url: string
  readonly external_port: number
}
const links = async (): Promise<readonly string[]> =>
  (await server.must<{ results: Link[] }>('GET', `/application/${application.id}/link`)).results.map(({ url }) => url)
const setCluster = (settings: object) => server.must('PUT', `${cluster.path}/advancedSettings`, settings)
const setService = async (more: object) => {
  const path = `/application/${application.id}/advancedSettings`
  await server.must('PUT', path, { ...(await server.must<object>('GET', path)), ...more })
}
/** Stores a certificate on the cluster as its administrator does. */
async function store({ cert, key }: TestCertificate): Promise<void> {
  const data = { 'tls.crt': Buffer.from(cert).toString('base64'), 'tls.key': Buffer.from(key).toString('base64') }
  const metadata = { name: 'wildcard', namespace: given() }
  const secret = { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, data }
  await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(secret) })
}
/** Waits until HTTPS answers with a certificate of this authority. */
const answers = (name: string, { cert }: TestCertificate, status = 200) =>
  until(`${name} answers ${status} by HTTPS`, async () => {
    const answer = await askSecurely(name, cert).catch(() => undefined)
    return answer?.status === status && answer
  })
const redirects = async (name = host): Promise<string | undefined> => {
  const { status, headers } = await askController(name, { path: '/a?b=c' })
  return status === 301 || status === 308 ? String(headers['location']) : undefined
}
const copies = async () => {
  const { items } = await kube.list(kinds.secret, { labels: routeLabels(instance()) }, limit())
  return items.map(({ metadata }) => metadata.namespace)
}

before(async () => {
  server = await startServer({ env: clusterSettings('tls') })
  wildcard = await makeCertificate([`*.${domain}`])
  authority = await makeCertificate(['authority.test'])
})
after(async () => {
  await server?.close()
  await certManager?.close()
  if (cluster) {
    const { items } = await kube.list(kinds.namespace, { labels: ownLabels(instance()) }, limit())
    const names = [...items.map(({ metadata }) => metadata.name), given()]
    await kubectl(['delete', 'namespace', ...names, '--ignore-not-found', '--wait=false'])
  }
  kube.close()
})

test('the check of a cluster says where its certificate is missing, and its services stay on plain HTTP', async () => {
  cluster = await addCluster(server, 'far')
  await cluster.connect()
  const setEarly = () => server.api('PUT', `${cluster.path}/advancedSettings`, { 'tls.secret_name': 'wildcard' })
  // The server connects to it within a second.
  await until('the setting is refused without a domain', async () =>
    /tls\.secret_name needs a domain of the cluster/.test(JSON.stringify(await setEarly())),
  )
  const dns_provider = { provider: 'QOVERY', domain }
  await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, { dns_provider })
  await setCluster({ 'tls.secret_name': 'wildcard' })
  // The server connects again for the domain, within a second.
  await until('the check names the Secret that is missing', async () => {
    const { status, lines } = await cluster.deploy()
    return status === 'DEPLOYED' && lines.includes(`kubectl -n ${given()} create secret tls wildcard`)
  })
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  application = await makeApplication(server, { environmentId, name: 'web' })
  host = new URL(application.url).hostname
  await application.run(web('first'))
  await until('it answers by HTTP', async () => (await askController(host)).body === 'first')
  const reason = `the Secret wildcard in the namespace ${given()} does not exist`
  const missing = `The certificate of ${host} is not ready: ${reason}.`
  await until('its status says why', async () => String(Object(await application.status()).reason).includes(missing))
  assert.deepEqual(await links(), [`http://${host}`])
})

test('a Secret of the cluster answers by HTTPS, and plain HTTP is redirected', async () => {
  await kubectl(['create', 'namespace', given()])
  await store(wildcard)
  assert.equal((await answers(host, wildcard)).body, 'first')
  await until('the link is https', async () => (await links())[0] === `https://${host}`)
  await until('plain HTTP is redirected', async () => (await redirects()) === `https://${host}/a?b=c`)
  await setService({ [redirecting]: false })
  await until('plain HTTP answers', async () => (await askController(host)).body === 'first')
  assert.equal((await answers(host, wildcard)).body, 'first')
  await setService({ [redirecting]: true })
  await until('plain HTTP is redirected again', async () => (await redirects()) !== undefined)
})

test('a renewed Secret is served', async () => {
  const former = await answers(host, wildcard)
  wildcard = await makeCertificate([`*.${domain}`])
  await store(wildcard)
  assert.notEqual((await answers(host, wildcard)).fingerprint, former.fingerprint)
})

test('a stopped service answers 503 by HTTPS with the certificate', async () => {
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  await answers(host, wildcard, 503)
  await application.deploy()
  await application.reaches(['RUNNING'])
  assert.equal((await answers(host, wildcard)).body, 'first')
})

interface Domain {
  readonly id: string
  readonly certificate: { readonly state: string; readonly message: string | null }
}
let custom: string
const certificate = async () =>
  (await server.must<Domain>('GET', `/application/${application.id}/customDomain/${custom}/status`)).certificate

test('a custom domain has a certificate of the issuer, and says so until then', async () => {
  const body = { domain: customDomain, generate_certificate: true }
  const created = await server.must<Domain>('POST', `/application/${application.id}/customDomain`, body)
  custom = created.id
  assert.match(JSON.stringify(created.certificate), /UNAVAILABLE.*tls\.cluster_issuer/)
  await until('it answers by HTTP', async () => (await askController(customDomain)).body === 'first')
  await setCluster({ 'tls.secret_name': 'wildcard', 'tls.cluster_issuer': issuer })
  await until('it says what is missing', async () =>
    /FAILED.*has no cert-manager; .*helm install/.test(JSON.stringify(await certificate())),
  )
  await installKinds()
  await until('it says that the issuer is missing', async () =>
    /FAILED.*has no ClusterIssuer quayside-test-tls/.test(JSON.stringify(await certificate())),
  )
  await makeIssuer(issuer, given(), authority)
  await until('the issuer waits for its controller', async () =>
    /FAILED.*cert-manager has not looked at it/.test(JSON.stringify(await certificate())),
  )
  assert.equal(await redirects(customDomain), undefined)
  certManager = startCertManager(given())
  await until('the certificate is ready', async () => (await certificate()).state === 'READY', { limitMs: 60_000 })
  assert.equal((await answers(customDomain, authority)).body, 'first')
  await until('plain HTTP is redirected', async () => (await redirects(customDomain)) !== undefined)
  assert.deepEqual((await links()).toSorted(), [`https://${customDomain}`, `https://${host}`].toSorted())
  // The names of the cluster keep their own certificate.
  await answers(host, wildcard)
})

test('cert-manager makes another certificate in the place of a lost one', async () => {
  const before = await answers(customDomain, authority)
  const [found] = (await kube.list(kinds.certificate, { labels: routeLabels(instance()) }, limit())).items
  const secret = String(Object(Object(found).spec).secretName)
  await kubectl(['-n', `quayside-routes-${instance()}`, 'delete', 'secret', secret])
  await until('another one is served', async () => {
    const answer = await askSecurely(customDomain, authority.cert).catch(() => undefined)
    return answer?.status === 200 && answer.fingerprint !== before.fingerprint
  })
})

test('the check of a cluster finds nothing amiss', async () => {
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
  const last = lines.slice(lines.lastIndexOf('Checking that the engine answers'))
  assert.doesNotMatch(last, /certificate|issuer|redirect/i)
})

test('the certificate of the controller needs no copy', async () => {
  await setCluster({ 'tls.controller_certificate': true, 'tls.cluster_issuer': issuer })
  // Traefik made its default certificate itself.
  await until('no copy of the wildcard is left', async () => (await copies()).length === 1)
  await until('plain HTTP is redirected', async () => (await redirects()) !== undefined)
  await until('the link is https', async () => (await links()).includes(`https://${host}`))
})

test('a deleted environment leaves no certificate', async () => {
  await server.must('DELETE', `/environment/${application.environmentId}`)
  await until('its copies are gone', async () => (await copies()).length === 0)
  const left = async () => (await kube.list(kinds.certificate, { labels: routeLabels(instance()) }, limit())).items
  await until('its Certificates are gone', async () => (await left()).length === 0)
  const secrets = async () =>
    (await kube.list(kinds.secret, { namespace: `quayside-routes-${instance()}` }, limit())).items
  await until('their Secrets are gone', async () => (await secrets()).length === 0)
  // The Secret of the administrator is left alone.
  const own = await kubectl(['-n', given(), 'get', 'secrets', '--output=name'])
  assert.deepEqual(own.trim().split('\n').toSorted(), [`secret/${issuer}`, 'secret/wildcard'])
})
