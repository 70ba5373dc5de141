import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn, portLabels } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { askPort } from '../support/ask-port.ts'
import { databaseImages, provideDatabaseImages } from '../support/database-images.ts'
import type { Tree } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { openKube, removeNamespaces } from './support/access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'

// Public TCP and UDP ports, and a public database, on a cluster that carries its own traffic. The
// tests build on each other.

interface Link {
  readonly url: string
  readonly internal_port: number
  readonly external_port: number
}

let server: ServerProcess
let cluster: AddedCluster
let application: TestApplication
let databaseId: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const instance = () => instanceOn(server.instance, cluster.id)

before(async () => {
  await provideDatabaseImages('postgresql')
  server = await startServer({ env: { ...clusterSettings('ports'), QUAYSIDE_CLUSTER_PORTS: 'NodePort' } })
  cluster = await addCluster(server, 'far')
  await cluster.connect()
  const dns_provider = { provider: 'QOVERY', domain: 'ports.far.test' }
  await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, { dns_provider })
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
})
after(async () => {
  await server.close()
  await removeNamespaces(kube, instance())
  kube.close()
})

/** A program that answers its version to requests at 8080 and 5000, and to datagrams at 5000. */
function speaking(version: string): Tree {
  const tree = web(version)
  const more = `
    require('node:http').createServer((_, response) => response.end(${JSON.stringify(version)})).listen(5000)
    const udp = require('node:dgram').createSocket('udp4')
    udp.on('message', (_, from) => udp.send(${JSON.stringify(version)}, from.port, from.address)).bind(5000)`
  return { ...tree, 'app.js': `${tree['app.js']}${more}` }
}

const http = { internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }
const port = (protocol: string, more: object = {}) => ({
  internal_port: 5000,
  name: protocol.toLowerCase(),
  publicly_accessible: true,
  protocol,
  ...more,
})
const links = async (): Promise<readonly Link[]> =>
  (await server.must<{ results: Link[] }>('GET', `/application/${application.id}/link`)).results.filter(
    ({ url }) => !url.startsWith('http'),
  )
const openServices = async () => (await kube.list(kinds.service, { labels: portLabels(instance()) }, limit())).items
/** Returns the address of a link, as `askPort` takes it. */
const at = ({ url }: Link) => {
  const { protocol, hostname, port: number } = new URL(url)
  return { protocol: protocol === 'udp:' ? ('UDP' as const) : ('TCP' as const), host: hostname, port: Number(number) }
}
const answers = (link: Link, version: string | undefined) =>
  until(`${version} answers at ${link.url}`, async () => (await askPort(at(link))) === version)

test('a public TCP port is reached at the host and port of its link, also after further versions', async () => {
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  const ports = [http, port('TCP')]
  application = await makeApplication(server, { environmentId, name: 'web', settings: { ports } })
  assert.deepEqual(await links(), [], 'a port without an address has no link')
  await application.run(speaking('first'))
  const [link] = await links()
  assert.ok(link)
  assert.deepEqual([at(link).host, at(link).port], [addresses.node, link.external_port])
  await answers(link, 'first')
  assert.equal((await openServices()).length, 1)
  await application.run(speaking('second'))
  assert.deepEqual(await links(), [link])
  await answers(link, 'second')
})

test('a stopped service is not reached, and gets its address back', async () => {
  const [link] = await links()
  assert.ok(link)
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  await answers(link, undefined)
  await application.deploy()
  await application.reaches(['RUNNING'])
  assert.deepEqual(await links(), [link])
  await answers(link, 'second')
})

test('a UDP port replaces it, and a private one has no Service', async () => {
  const change = (ports: readonly object[]) => server.must('PUT', `/application/${application.id}`, { ports })
  const [former] = await links()
  assert.ok(former)
  await change([http, port('UDP')])
  await application.run(speaking('third'))
  const [link] = await links()
  assert.ok(link)
  assert.match(link.url, /^udp:/)
  await answers(link, 'third')
  await answers(former, undefined)
  await change([http, port('UDP', { publicly_accessible: false })])
  await until('the Service is gone', async () => (await openServices()).length === 0)
  assert.deepEqual(await links(), [])
})

/** Returns what a server of PostgreSQL says to a client that wants TLS: `S` or `N`. */
function askPostgres(host: string, number: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = connect({ host, port: number, timeout: 2_000 }, () =>
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])),
  )
  socket.on('data', (data) => {
    resolve(data.toString())
    socket.destroy()
  })
  socket.on('timeout', () => socket.destroy())
  socket.on('error', () => resolve(undefined))
  socket.on('close', () => resolve(undefined))
  return promise
}
interface Database {
  readonly id: string
  readonly host: string
  readonly port: number
}
const record = () => server.must<Database>('GET', `/database/${databaseId}`)
const deployDatabase = async () => {
  await server.must('POST', `/database/${databaseId}/deploy`)
  const look = () => server.must<{ state: string; reason: string | null }>('GET', `/database/${databaseId}/status`)
  // Its image is large.
  await until(
    'the database runs',
    async () => {
      const { state, reason } = await look()
      assert.doesNotMatch(state, /ERROR/, String(reason))
      return state === 'DEPLOYED' || state === 'RUNNING'
    },
    { limitMs: 240_000 },
  )
}

test('a public database is reached at its host and port, and its variables name them', async () => {
  const { type, version } = databaseImages.postgresql
  const body = { name: 'data', type, version, mode: 'CONTAINER', accessibility: 'PUBLIC', storage: 10, memory: 256 }
  const created = await server.must<Database>('POST', `/environment/${application.environmentId}/database`, body)
  databaseId = created.id
  assert.equal(created.port, 5432, 'its address is not known yet')
  await deployDatabase()
  const { host, port: number } = await record()
  assert.equal(host, addresses.node)
  await until('the server answers', async () => /^[SN]$/.test((await askPostgres(host, number)) ?? ''))
  await application.deploy()
  await application.settles()
  const prefix = `QOVERY_POSTGRESQL_Z${databaseId.slice(0, 8).toUpperCase()}`
  const variables = await server.must<{ results: { key: string; value: string }[] }>(
    'GET',
    `/application/${application.id}/environmentVariable`,
  )
  const builtIn = (name: string) => variables.results.find(({ key }) => key === `${prefix}_${name}`)?.value
  assert.deepEqual([builtIn('HOST_EXTERNAL'), builtIn('PORT_EXTERNAL')], [host, String(number)])
})

test('a copy of the environment has ports of its own, and nothing of it is skipped', async () => {
  const { host, port: number } = await record()
  const copy = await server.must<{ id: string }>('POST', `/environment/${application.environmentId}/clone`, {
    name: 'copy',
    cluster_id: cluster.id,
  })
  const path = `/environment/${copy.id}/deploy?dry_run=true`
  const skipped = await until('the copy is complete', async () => {
    const plan = await server.must<{ services: { skipped: string | null }[] }>('POST', path)
    return plan.services.length === 2 && plan.services.map((one) => one.skipped)
  })
  assert.deepEqual(skipped, [null, null])
  await server.must('DELETE', `/environment/${copy.id}`)
  assert.deepEqual([(await record()).host, (await record()).port], [host, number])
})

test('a database that is private again is not reached, and its Service is gone', async () => {
  const { host, port: number } = await record()
  await server.must('PUT', `/database/${databaseId}`, { accessibility: 'PRIVATE' })
  await until('nothing answers', async () => (await askPostgres(host, number)) === undefined)
  await until('the Service is gone', async () => (await openServices()).length === 0)
  assert.equal((await record()).port, 5432)
})

test('a deleted environment leaves no Service', async () => {
  await server.must('PUT', `/database/${databaseId}`, { accessibility: 'PUBLIC' })
  await deployDatabase()
  await until('the Service is there', async () => (await openServices()).length === 1)
  await server.must('DELETE', `/environment/${application.environmentId}`)
  await until('the Service is gone', async () => (await openServices()).length === 0)
})
