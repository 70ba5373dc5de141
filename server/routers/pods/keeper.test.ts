import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keptFiles } from '@quayside/contract/kept-parts.ts'
import type { Route, RouteTable } from '@quayside/contract/routes.ts'
import { readStoredTable } from '../../../router/stored-table.ts'
import { until } from '../../../test/support/until.ts'
import type { KubeObject } from '../ingress/kube-objects.ts'
import { application, ask } from '../own/testing.ts'
import { Keeper } from './keeper.ts'
import { partOf, tableContent } from './kept-content.ts'
import { keptTable } from './kept-objects.ts'
import type { PodKube } from './pod-kube.ts'
import { keptFilesIn, startedPodCluster, testSetting } from './testing.ts'

const { signal } = new AbortController()

interface Life {
  after(work: () => Promise<void>): void
}

/** Returns text that nothing compresses. */
const noise = (index: number): string => createHash('sha512').update(String(index)).digest('base64url')

/** Returns a table that does not fit into one Secret, or with fewer routes into 10,000 bytes. */
function largeTable(version: number, change = '', count = 200): RouteTable {
  const routes = Array.from({ length: count }, (_, index): Route => {
    const reason = index === 0 && change !== '' ? change : noise(index).repeat(2) + noise(-index)
    return { host: `app-${index}.test`, service: `s${index}`, name: `app-${index}`, endpoints: [], reason }
  })
  return { version, routes, people: { 'o/ADMIN': { ada: 1 }, 'o/VIEWER': { bob: 2 } } }
}

/** A cluster that knows Secrets only. `end` makes every request after so many fail. */
function secretsOnly() {
  const objects = new Map<string, KubeObject>()
  const written: string[] = []
  const state = { left: Infinity }
  const check = (): void => {
    if (--state.left < 0) throw new Error('the platform was killed')
  }
  const unused = async (): Promise<never> => assert.fail('not used')
  const kube: PodKube = {
    get: async ({ kind }, { name }) => {
      check()
      return objects.get(`${kind}/${name}`)
    },
    apply: async (object) => {
      check()
      written.push(object.metadata.name)
      objects.set(`${object.kind}/${object.metadata.name}`, object)
      return object
    },
    remove: async ({ kind }, { name }) => {
      check()
      return objects.delete(`${kind}/${name}`)
    },
    ...{ create: unused, list: unused, portForward: unused },
  }
  return { kube, objects, written, state }
}

/** Returns the table that a router reads which starts now. */
async function readTable(t: Life, objects: ReadonlyMap<string, KubeObject>): Promise<RouteTable | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-kept-'))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, '..2026'))
  for (const [file, content] of keptFilesIn(objects, keptTable)) await writeFile(join(folder, '..2026', file), content)
  await symlink('..2026', join(folder, '..data'))
  return readStoredTable(folder)
}

const sorted = (table: RouteTable | undefined) =>
  table && { ...table, routes: table.routes.toSorted((one, other) => one.host.localeCompare(other.host)) }
const keeperOn = ({ kube }: { readonly kube: PodKube }) => new Keeper(kube, testSetting, keptTable, 10_000)

test('a table that does not fit into one Secret is kept in parts and read whole', async (t) => {
  const cluster = secretsOnly()
  const table = largeTable(7, '', 9_000)
  const keeper = new Keeper(cluster.kube, testSetting, keptTable)
  assert.equal(await keeper.keep(tableContent(table), signal), true)
  assert.ok(cluster.objects.size > 2)
  for (const object of cluster.objects.values()) {
    const sizes = Object.values<string>(Object(object).data).map((text) => Buffer.from(text, 'base64').length)
    assert.ok(Math.max(...sizes) <= 1024 * 1024)
  }
  assert.deepEqual(sorted(await readTable(t, cluster.objects)), sorted(table))
})

test('only parts that changed are written', async (t) => {
  const cluster = secretsOnly()
  const keeper = keeperOn(cluster)
  await keeper.keep(tableContent(largeTable(7)), signal)
  cluster.written.length = 0
  const next = largeTable(8, 'changed')
  await keeper.keep(tableContent(next), signal)
  const part = `router-table-${partOf('app-0.test')}-b`
  assert.deepEqual(cluster.written, [part, 'router-table'])
  assert.equal(cluster.objects.has(`Secret/${part.replace(/b$/, 'a')}`), false)
  // Another process of the platform continues with the parts that it finds.
  cluster.written.length = 0
  await keeperOn(cluster).keep(tableContent({ ...next, version: 9 }), signal)
  assert.deepEqual(cluster.written, ['router-table'])
  assert.deepEqual(sorted(await readTable(t, cluster.objects)), sorted({ ...next, version: 9 }))
})

test('a platform that ends at any moment leaves one version, and never a mixture', async (t) => {
  const [before, next] = [largeTable(7), largeTable(8, 'changed')]
  const all = { ...next, routes: next.routes.map((route) => ({ ...route, reason: `new ${route.reason}` })) }
  for (const table of [next, all, { version: 8, routes: [] }]) {
    const versions = new Set<number | undefined>()
    for (let requests = 0, isOver = false; !isOver; requests++) {
      const cluster = secretsOnly()
      await keeperOn(cluster).keep(tableContent(before), signal)
      cluster.state.left = requests
      isOver = await keeperOn(cluster)
        .keep(tableContent(table), signal)
        .then(
          () => true,
          () => false,
        )
      const found = sorted(await readTable(t, cluster.objects))
      assert.deepEqual(found, sorted(found?.version === 7 ? before : table), `${requests} requests`)
      versions.add(found?.version)
      // The next process repairs what is left.
      cluster.state.left = Infinity
      await keeperOn(cluster).keep(tableContent(table), signal)
      assert.deepEqual(sorted(await readTable(t, cluster.objects)), sorted(table))
    }
    assert.deepEqual([...versions], [7, 8])
  }
})

test('a router does not start with parts of two versions', async (t) => {
  const cluster = secretsOnly()
  const keeper = keeperOn(cluster)
  await keeper.keep(tableContent(largeTable(7)), signal)
  const former = new Map(cluster.objects)
  await keeper.keep(tableContent(largeTable(8, 'changed')), signal)
  const mixed = new Map([
    ...cluster.objects,
    ['Secret/router-table', former.get('Secret/router-table') ?? assert.fail()],
  ])
  await assert.rejects(readTable(t, mixed), /part \d+ is missing/)
  const name = `Secret/router-table-${partOf('app-0.test')}`
  const wrong = { ...Object(cluster.objects.get(`${name}-b`)), metadata: { name: 'x' } }
  await assert.rejects(readTable(t, new Map([...mixed, [`${name}-a`, wrong]])), /part \d+ is of another version/)
})

test('a table that is too large for all parts is not kept, nor an older one', async (t) => {
  const cluster = secretsOnly()
  const keeper = keeperOn(cluster)
  await keeper.keep(tableContent(largeTable(7)), signal)
  const huge = Array.from({ length: 250 }, (_, index) => noise(index)).join('')
  const [first, ...others] = largeTable(8).routes
  assert.ok(first)
  const routes = [{ ...first, reason: huge }, ...others]
  assert.equal(await keeper.keep(tableContent({ version: 8, routes }), signal), false)
  assert.equal(await readTable(t, cluster.objects), undefined)
  assert.deepEqual([...cluster.objects.keys()], ['Secret/router-table'])
})

test('routers that start while the platform is away serve a large table', { timeout: 90_000 }, async (t) => {
  const cluster = await startedPodCluster(1)
  t.after(() => cluster.close())
  const { server, endpoint } = await application((_, response) => response.end('ok'))
  t.after(async () => void server.close().closeAllConnections())
  const { routes } = largeTable(1, '', 9_000)
  const host = 'shop.test'
  await cluster.router().replaceAll([...routes, { host, service: 'shop', name: 'shop', endpoints: [endpoint] }], signal)
  assert.ok(cluster.object('Secret', 'router-table-0-a'))
  assert.equal(Object(cluster.object('Secret', 'router-table')).data[keptFiles.whole], undefined)
  cluster.isAway = true
  const fresh = await cluster.addPod()
  await until('it gets requests', () => cluster.isReady(fresh), { limitMs: 60_000 })
  assert.equal((await ask(fresh.port, host)).body, 'ok')
  assert.equal((await ask(fresh.port, 'app-17.test')).status, 503)
})
