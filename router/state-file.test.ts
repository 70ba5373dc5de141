import assert from 'node:assert/strict'
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Route, RouteChanges, RouteTable } from '@quayside/contract/routes.ts'
import type { Log } from './log.ts'
import { StateFile } from './state-file.ts'
import { changedTable } from './table-changes.ts'

const route = (host: string, port = 80): Route => ({
  host,
  service: host,
  name: host,
  endpoints: [{ address: '127.0.0.1', port }],
})
const first: RouteTable = { version: 7, routes: [route('a.test'), route('b.test')], people: { 'o/ADMIN': { ada: 0 } } }

/** A state file in a folder of its own, which has the first table. */
async function bed(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-state-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'routes.json')
  const errors: string[] = []
  const log = { error: (_: string, { error }: { error: string }) => errors.push(error) } as unknown as Log
  const file = new StateFile(path, log)
  let table = first
  await file.save(table)
  return {
    path,
    changes: `${path}.changes`,
    errors,
    file,
    /** Saves the next version. */
    change: async (more: Partial<RouteChanges>) => {
      const changes = { from: table.version, version: table.version + 1, put: [], gone: [], ...more }
      table = changedTable(table, changes)
      await file.save(table, changes)
      return table
    },
    /** Returns what another process reads, and the file that it continues. */
    again: async () => {
      const next = new StateFile(path, log)
      return { next, table: await next.load() }
    },
  }
}

const versionIn = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8')).version

test('changes are stored beside the whole table, and another process continues them', async (t) => {
  const { path, change, again, errors } = await bed(t)
  await change({ put: [route('b.test', 81), route('c.test')], people: { 'o/VIEWER': { bob: 0 }, 'o/ADMIN': null } })
  await change({ gone: ['c.test/', 'b.test/'] })
  const last = await change({ put: [route('b.test', 82)], people: { 'o/VIEWER': { bob: 7 } } })
  assert.equal(await versionIn(path), 7)
  const { next, table } = await again()
  assert.deepEqual(table, last)
  const changes = { from: 10, version: 11, put: [], gone: ['a.test/'] }
  await next.save(changedTable(table, changes), changes)
  assert.equal(await versionIn(path), 7)
  assert.deepEqual((await again()).table, { ...last, version: 11, routes: [route('b.test', 82)] })
  assert.deepEqual(errors, [])
})

test('a change that a power cut has broken off is passed over, and a whole table follows', async (t) => {
  const { path, changes, change, again } = await bed(t)
  const last = await change({ put: [route('c.test')] })
  await appendFile(changes, '{"from":8,"version":9,"put":[],"go')
  const { next, table } = await again()
  assert.deepEqual(table, last)
  const more = { from: 8, version: 9, put: [], gone: ['a.test/'] }
  await next.save(changedTable(table, more), more)
  assert.equal(await versionIn(path), 9)
  await assert.rejects(stat(changes), { code: 'ENOENT' })
})

test('changes that a whole table already has are passed over', async (t) => {
  const { changes, change, again, file } = await bed(t)
  await change({ put: [route('c.test')] })
  const old = await readFile(changes)
  const whole = { version: 8, routes: [route('d.test')] }
  await file.save(whole)
  await writeFile(changes, old)
  const { next, table } = await again()
  assert.deepEqual(table, whole)
  const more = { from: 8, version: 9, put: [route('e.test')], gone: [] }
  await next.save(changedTable(table, more), more)
  assert.deepEqual((await again()).table.routes, [route('d.test'), route('e.test')])
})

test('changes that do not continue the table, or cannot be read, are reported and replaced', async (t) => {
  const { path, changes, errors, again } = await bed(t)
  for (const line of ['{"from":8,"version":9,"put":[],"gone":["a.test/"]}', '\0\0', '{"from":7}']) {
    await writeFile(changes, `${line}\n`)
    const { next, table } = await again()
    assert.deepEqual(table, first)
    assert.equal(errors.length, 1, line)
    errors.length = 0
    const more = { from: 7, version: 7, put: [], gone: [] }
    await next.save(table, more)
    await assert.rejects(stat(changes), { code: 'ENOENT' })
    assert.equal(await versionIn(path), 7)
  }
})

test('a whole table follows a change that could not be stored, and very many changes', async (t) => {
  const { path, changes, change, again } = await bed(t)
  await mkdir(changes)
  await assert.rejects(change({ put: [route('c.test')] }), { code: 'EISDIR' })
  await rm(changes, { recursive: true })
  await change({ put: [route('d.test')] })
  assert.equal(await versionIn(path), 9)
  let last = await change({ put: [route('c.test', 81)] })
  const many = Array.from({ length: 1_000 }, (_, at) => route(`${'x'.repeat(60)}.${at}.test`))
  for (let port = 1; (await stat(changes).catch(() => undefined)) !== undefined; port++) {
    assert.ok((await stat(changes)).size <= 1024 * 1024)
    last = await change({ put: many.map(({ host }) => route(host, port)) })
  }
  assert.deepEqual((await again()).table, last)
  assert.equal(await versionIn(path), last.version)
})

test('a table that cannot be read is empty, whatever changes are beside it', async (t) => {
  const { path, errors, change, again } = await bed(t)
  await change({ put: [route('c.test')] })
  await writeFile(path, '{')
  assert.deepEqual((await again()).table, { version: 0, routes: [] })
  assert.equal(errors.length, 1)
  await rm(path)
  const { next, table } = await again()
  assert.deepEqual([table, errors.length], [{ version: 0, routes: [] }, 1])
  await next.save(first)
  assert.deepEqual((await again()).table, first)
})
