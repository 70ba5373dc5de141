import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ConfigError, readConfig, readSettings, unknownSettings } from './config.ts'
import { everyAddress } from './config-tls.ts'

const readUrl = (url: string) => readConfig({ QUAYSIDE_DATA: '/nonexistent', QUAYSIDE_DATABASE_URL: url }).databaseUrl

test('an address of a database that cannot be read is refused by name, without its password', () => {
  for (const url of ['postgres://u:geheim@[bad', 'postgres://u:geheim@h:99999/x', 'http://u:geheim@h/x', 'geheim']) {
    assert.throws(
      () => readUrl(url),
      (error) =>
        error instanceof ConfigError &&
        /^QUAYSIDE_DATABASE_URL must be/.test(error.message) &&
        !JSON.stringify([error.message, error.stack, error]).includes('geheim'),
      url,
    )
  }
})

test('addresses of databases are taken as they are, sockets included', () => {
  for (const url of [
    'postgres://u:p@h/x',
    'postgresql://u@h:5433/x?sslmode=require',
    'postgres:///x?host=/run/postgresql',
  ])
    assert.equal(readUrl(url), url)
  assert.equal(readUrl(''), undefined)
})

const docs = readFileSync(new URL('../docs/operate.md', import.meta.url), 'utf8')
/** Only tests set it. */
const forTests = 'QUAYSIDE_FAILPOINT'

test('docs/operate.md names every setting that the server reads', () => {
  const names = [...readSettings()]
  assert.ok(names.length > 30)
  const missing = names.filter((name) => name !== forTests && !new RegExp(`\\b${name}\\b`).test(docs))
  assert.deepEqual(missing, [])
})

test('the format of the log is json or text, and open unless it is set', () => {
  assert.equal(readConfig({}).logFormat, undefined)
  assert.equal(readConfig({ QUAYSIDE_LOG_FORMAT: 'json' }).logFormat, 'json')
  assert.equal(readConfig({ QUAYSIDE_LOG_FORMAT: 'text' }).logFormat, 'text')
  assert.throws(() => readConfig({ QUAYSIDE_LOG_FORMAT: 'pretty' }), {
    name: 'ConfigError',
    message: 'QUAYSIDE_LOG_FORMAT must be one of json, text, not "pretty".',
  })
})

test('a setting that nothing reads is reported', () => {
  assert.deepEqual(unknownSettings({ QUAYSIDE_PORT: '1', QUAYSIDE_TRUSTED_PROXY: 'x', HOME: '/' }), [
    'QUAYSIDE_TRUSTED_PROXY',
  ])
})

test('trusted proxies are addresses and networks, separated by commas or spaces', () => {
  const read = (text: string) => readConfig({ QUAYSIDE_TRUSTED_PROXIES: text }).trustedProxies
  assert.deepEqual(readConfig({}).trustedProxies, [])
  assert.deepEqual(read(' 127.0.0.1,10.0.0.0/8  fd00::/8, ::1 '), ['127.0.0.1', '10.0.0.0/8', 'fd00::/8', '::1'])
  for (const text of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    '10.0.0.1:80',
    '*',
    '1',
  ]) {
    assert.throws(() => read(`127.0.0.1 ${text}`), {
      name: 'ConfigError',
      message: `QUAYSIDE_TRUSTED_PROXIES must be addresses or CIDRs such as 10.1.0.0/16, not "127.0.0.1 ${text}".`,
    })
  }
})

test('the limit of an organization is unset, 0 for none, or whole GiB', () => {
  const limit = (text: string) => readConfig({ QUAYSIDE_ORGANIZATION_DISK: text }).organizationDiskGiB
  assert.deepEqual([limit(''), limit('0'), limit('50')], [undefined, 0, 50])
  for (const text of ['-1', '1.5', 'half']) assert.throws(() => limit(text), /QUAYSIDE_ORGANIZATION_DISK must be/)
})

test('the cluster of the pod has an id, and the address that Kubernetes gives to the pod', () => {
  const id = '0190a1b2-0000-7000-8000-000000000001'
  const read = (more: Record<string, string>) => readConfig({ QUAYSIDE_IN_CLUSTER_ID: id, ...more }).inCluster
  const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
  assert.deepEqual(read(pod), {
    clusterId: id,
    server: 'https://10.96.0.1',
    directory: '/var/run/secrets/kubernetes.io/serviceaccount',
  })
  const six = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT_HTTPS: '6443' }
  assert.equal(read(six)?.server, 'https://[fd00::1]:6443')
  assert.equal(readConfig(pod).inCluster, undefined)
  assert.throws(() => read({}), { message: /runs in a pod/ })
  assert.throws(() => read({ KUBERNETES_SERVICE_HOST: 'api.example.org' }), { message: /runs in a pod/ })
  assert.throws(() => read({ ...pod, QUAYSIDE_IN_CLUSTER_ID: 'here' }), { message: /must be the id of a cluster/ })
})

test('the router of clusters has an image, a kind of Service and a number of pods', () => {
  const read = (more: Record<string, string>) =>
    readConfig({ QUAYSIDE_CLUSTER_ROUTER_IMAGE: 'registry.test:5000/quayside/router@sha256:0a', ...more }).clusterRouter
  assert.equal(read({ QUAYSIDE_CLUSTER_ROUTER_IMAGE: '' }), undefined)
  assert.deepEqual([read({})?.exposure, read({})?.replicas], [{ type: 'LoadBalancer' }, 2])
  const exposed = (text: string) => read({ QUAYSIDE_CLUSTER_ROUTER_SERVICE: text })?.exposure
  assert.deepEqual(exposed('NodePort'), { type: 'NodePort' })
  assert.deepEqual(exposed('NodePort:30080'), { type: 'NodePort', nodePort: 30_080 })
  assert.deepEqual(exposed('NodePort:30080:30443'), { type: 'NodePort', nodePort: 30_080, tlsNodePort: 30_443 })
  const wrong = ['ClusterIP', 'LoadBalancer:80', 'NodePort:', 'NodePort:0', 'NodePort:70000', 'NodePort:80:80']
  for (const text of [...wrong, 'NodePort:80:81:82']) {
    assert.throws(() => exposed(text), /QUAYSIDE_CLUSTER_ROUTER_SERVICE must be/)
  }
  assert.throws(() => read({ QUAYSIDE_CLUSTER_ROUTER_IMAGE: 'a b' }), /QUAYSIDE_CLUSTER_ROUTER_IMAGE must be/)
  assert.throws(() => read({ QUAYSIDE_CLUSTER_ROUTER_REPLICAS: '0' }), /QUAYSIDE_CLUSTER_ROUTER_REPLICAS must be/)
  assert.deepEqual([read({})?.keepsKeys, read({ QUAYSIDE_CLUSTER_ROUTER_KEYS: 'secrets' })?.keepsKeys], [false, true])
  assert.throws(() => read({ QUAYSIDE_CLUSTER_ROUTER_KEYS: 'etcd' }), /QUAYSIDE_CLUSTER_ROUTER_KEYS must be/)
  const trusted = read({ QUAYSIDE_TRUSTED_PROXIES: '10.0.0.0/8', QUAYSIDE_ROUTER_CONNECTIONS: '500' })
  assert.deepEqual([trusted?.trusted, trusted?.connections.total], [['10.0.0.0/8'], 500])
})

test('the router of clusters speaks HTTPS if the one of the machine does, or as the operator says', () => {
  const read = (more: Record<string, string>) =>
    readConfig({
      QUAYSIDE_CLUSTER_ROUTER_IMAGE: 'registry.test/router:1',
      QUAYSIDE_ACME_DIRECTORY: 'https://ca.test/',
      ...more,
    }).clusterTls
  const authority = { directory: 'https://ca.test/' }
  assert.equal(read({}), undefined)
  assert.deepEqual(read({ QUAYSIDE_ROUTER_TLS_PORT: '443' }), authority)
  assert.equal(read({ QUAYSIDE_ROUTER_TLS_PORT: '443', QUAYSIDE_CLUSTER_ROUTER_TLS: 'off' }), undefined)
  assert.deepEqual(read({ QUAYSIDE_CLUSTER_ROUTER_TLS: 'on' }), authority)
  assert.equal(read({ QUAYSIDE_CLUSTER_ROUTER_TLS: 'on', QUAYSIDE_CLUSTER_ROUTER_IMAGE: '' }), undefined)
  assert.throws(() => read({ QUAYSIDE_CLUSTER_ROUTER_TLS: 'yes' }), /QUAYSIDE_CLUSTER_ROUTER_TLS/)
})

test('the builder of clusters needs a digest, and a server without a Docker Engine', () => {
  const image = `registry.test:5000/quayside/builder@sha256:${'0'.repeat(64)}`
  const read = (more: Record<string, string> = {}) =>
    readConfig({ QUAYSIDE_DOCKER_HOST: 'none', QUAYSIDE_CLUSTER_BUILDER_IMAGE: image, ...more }).clusterBuilder
  const usual = { image, cpuMilli: 2000, memoryMiB: 4096, diskGiB: 50, nodes: undefined }
  assert.deepEqual(read(), usual)
  const nodes = { key: 'example.org/purpose', value: 'builds' }
  assert.deepEqual(read({ QUAYSIDE_CLUSTER_BUILDER_NODES: 'example.org/purpose=builds' }), { ...usual, nodes })
  assert.equal(read({ QUAYSIDE_CLUSTER_BUILDER_IMAGE: '' }), undefined)
  assert.throws(() => read({ QUAYSIDE_CLUSTER_BUILDER_IMAGE: 'registry.test/builder:1' }), /an image by its digest/)
  assert.throws(() => read({ QUAYSIDE_CLUSTER_BUILDER_NODES: 'builds' }), /QUAYSIDE_CLUSTER_BUILDER_NODES must be/)
  assert.throws(() => read({ QUAYSIDE_DOCKER_HOST: '' }), /needs QUAYSIDE_DOCKER_HOST=none/)
})

test('a domain of the public DNS alone opens the usual ports, with HTTPS for everything', () => {
  const read = (more: Record<string, string> = {}) => {
    const { routerHost, routerPort, routerTls, publicUrl, platformHost } = readConfig({
      QUAYSIDE_DOMAIN: 'example.org',
      QUAYSIDE_DOCKER_HOST: '/run/engine.sock',
      ...more,
    })
    return [routerHost, routerPort, routerTls?.port, publicUrl, platformHost]
  }
  const name = 'quayside.example.org'
  assert.deepEqual(read(), [everyAddress, 80, 443, `https://${name}`, name])
  const plain = ['127.0.0.1', 8080, undefined, 'http://localhost:3000', undefined]
  for (const domain of ['', 'localhost', 'lab.test', 'machine.local']) {
    assert.deepEqual(read({ QUAYSIDE_DOMAIN: domain }), plain, domain)
  }
  assert.deepEqual(read({ QUAYSIDE_DOCKER_HOST: 'none' }), plain)
  assert.deepEqual(read({ QUAYSIDE_ROUTER_PORT: '8080' }), plain)
  assert.deepEqual(read({ QUAYSIDE_TRUSTED_PROXIES: '127.0.0.1' }), plain)
  const url = 'https://ship.example.net'
  assert.deepEqual(read({ QUAYSIDE_PUBLIC_URL: url }), ['127.0.0.1', 8080, undefined, url, undefined])
})

test('a domain that the named authority can certify opens the usual ports too', () => {
  const read = (domain: string, directory: string, more: Record<string, string> = {}) => {
    const given = {
      QUAYSIDE_DOMAIN: domain,
      QUAYSIDE_ACME_DIRECTORY: directory,
      QUAYSIDE_DOCKER_HOST: '/run/engine.sock',
    }
    const { routerHost, routerPort, routerTls, publicUrl } = readConfig({ ...given, ...more })
    return [routerHost, routerPort, routerTls?.port, publicUrl]
  }
  const own = 'https://ca.apps.internal/acme'
  for (const [domain, directory] of [
    ['apps.internal', 'local'],
    ['lan', 'local'],
    ['apps.internal', own],
  ] as const) {
    assert.deepEqual(read(domain, directory), [everyAddress, 80, 443, `https://quayside.${domain}`])
  }
  const plain = ['127.0.0.1', 8080, undefined, 'http://localhost:3000']
  for (const domain of ['', 'localhost', 'x.localhost']) {
    for (const directory of ['local', own]) assert.deepEqual(read(domain, directory), plain, domain)
  }
  assert.deepEqual(read('apps.internal', ''), plain)
  assert.deepEqual(read('apps.internal', 'local', { QUAYSIDE_ROUTER_PORT: '8080' }), plain)
  assert.throws(() => read('apps.internal', 'http://ca.apps.internal'), /QUAYSIDE_ACME_DIRECTORY must be/)
})

test('the router leads to the platform itself if it speaks HTTPS and the public URL does', () => {
  const read = (more: Record<string, string>) => readConfig({ QUAYSIDE_ROUTER_TLS_PORT: '8443', ...more })
  const usual = read({ QUAYSIDE_DOMAIN: 'example.org' })
  assert.deepEqual([usual.publicUrl, usual.routerPort], ['https://quayside.example.org:8443', 8080])
  assert.deepEqual(usual.apiProxies, ['127.0.0.1'])
  const proxied = read({ QUAYSIDE_PUBLIC_URL: 'https://ship.example.org', QUAYSIDE_TRUSTED_PROXIES: '10.0.0.1' })
  assert.deepEqual([proxied.platformHost, proxied.apiProxies], ['ship.example.org', ['10.0.0.1', '127.0.0.1']])
  assert.deepEqual(proxied.trustedProxies, ['10.0.0.1'])
  for (const url of ['http://ship.example.org', 'https://192.0.2.1', 'https://[2001:db8::1]']) {
    assert.equal(read({ QUAYSIDE_PUBLIC_URL: url }).platformHost, undefined, url)
  }
  assert.throws(() => read({ QUAYSIDE_ACME_DIRECTORY: 'http://ca.internal' }), /QUAYSIDE_ACME_DIRECTORY must be/)
  assert.throws(() => read({ QUAYSIDE_ACME_EMAIL: 'nobody' }), /QUAYSIDE_ACME_EMAIL must be/)
})

test('the operator names one way to change DNS', () => {
  const read = (given: Record<string, string>) => readConfig(given)
  const tls = { QUAYSIDE_DOMAIN: 'Example.org', QUAYSIDE_ROUTER_TLS_PORT: '443' }
  const [key, hook] = ['QUAYSIDE_ACME_DNS_KEY_FILE', 'QUAYSIDE_ACME_DNS_WEBHOOK']
  assert.equal(read(tls).routerTls?.dns, undefined)
  const by = read({ ...tls, [key]: '/etc/quayside/dns.key', QUAYSIDE_ACME_DNS_SERVER: 'ns1.example.org:5353' })
  assert.deepEqual(by.routerTls?.dns, {
    domain: 'example.org',
    nameServers: [],
    by: { updates: { program: 'nsupdate', keyFile: '/etc/quayside/dns.key', server: 'ns1.example.org:5353' } },
  })
  const webhook = read({ ...tls, [hook]: 'https://dns.example.org/acme' }).routerTls?.dns
  assert.deepEqual(webhook?.by, { webhook: { url: 'https://dns.example.org/acme' } })
  assert.throws(() => read({ ...tls, [key]: '/k', [hook]: 'https://dns.example.org' }), /Set one of them/)
  assert.throws(() => read({ ...tls, [hook]: 'ftp://dns.example.org' }), /must be an address/)
  assert.throws(() => read({ ...tls, [key]: '/k', QUAYSIDE_ACME_DNS_SERVER: 'ns1\nshow' }), /must be a server/)
  assert.throws(() => read({ ...tls, QUAYSIDE_ACME_DNS_SERVER: 'ns1.example.org' }), /has no effect without/)
  assert.throws(() => read({ ...tls, [key]: '/k', QUAYSIDE_ACME_DIRECTORY: 'local' }), /needs no proof/)
})

test('the ports that clients use are those of the router, unless a mapping has others', () => {
  const read = (more: Record<string, string>) => readConfig(more).publicRouterPorts
  assert.deepEqual(read({}), {})
  const [port, tlsPort] = ['QUAYSIDE_ROUTER_PUBLIC_PORT', 'QUAYSIDE_ROUTER_PUBLIC_TLS_PORT'] as const
  assert.deepEqual(read({ [port]: '80' }), { port: 80 })
  assert.deepEqual(read({ QUAYSIDE_ROUTER_TLS_PORT: '8443', [tlsPort]: '443' }), { tlsPort: 443 })
  assert.deepEqual(read({ QUAYSIDE_TRUSTED_PROXIES: '10.0.0.0/8', [tlsPort]: '443' }), { tlsPort: 443 })
  assert.throws(() => read({ [tlsPort]: '443' }), {
    name: 'ConfigError',
    message: /needs QUAYSIDE_ROUTER_TLS_PORT, or/,
  })
  for (const name of [port, tlsPort]) assert.throws(() => read({ [name]: '0' }), new RegExp(`${name} must be`))
})

test('the usual public URL has the port that clients use', () => {
  const read = (more: Record<string, string>) => readConfig({ QUAYSIDE_DOMAIN: 'example.org', ...more })
  const mapped = read({ QUAYSIDE_ROUTER_TLS_PORT: '8443', QUAYSIDE_ROUTER_PUBLIC_TLS_PORT: '443' })
  assert.deepEqual([mapped.publicUrl, mapped.routerTls?.port], ['https://quayside.example.org', 8443])
  const plain = read({ QUAYSIDE_ROUTER_PUBLIC_PORT: '80' })
  assert.deepEqual([plain.routerPort, plain.routerTls], [8080, undefined], 'the ports of all addresses stay closed')
})
