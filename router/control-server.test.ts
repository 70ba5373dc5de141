import assert from 'node:assert/strict'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import test from 'node:test'
import type { RouteTable } from '@quayside/contract/routes.ts'
import { createLog, silentLog } from './log.ts'
import { startRouter } from './router.ts'
import { portOf, testBed } from './test-bed.ts'

const table = (version: number, port = 9): RouteTable => ({
  version,
  routes: [{ host: 'app.localhost', service: 's', name: 'shop', endpoints: [{ address: '127.0.0.1', port }] }],
})

test('the control server rejects an older table and accepts the current one again', async (t) => {
  const bed = await testBed(t)
  assert.deepEqual(await bed.tell('PUT', '/routes', table(7)), { status: 200, body: { version: 7, kept: true } })
  assert.equal((await bed.tell('PUT', '/routes', table(7))).status, 200)
  for (const other of [table(6), table(7, 10)]) {
    const { status, body } = await bed.tell('PUT', '/routes', other)
    assert.deepEqual([status, body['version']], [409, 7])
  }
  assert.deepEqual((await bed.tell('GET', '/routes')).body, table(7))
})

test('the control server confirms the version in effect if it is stored', async (t) => {
  const bed = await testBed(t)
  await mkdir(`${bed.state}.new`)
  await bed.tell('PUT', '/routes', table(7))
  const confirm = async (version: unknown) => {
    const { status, body } = await bed.tell('POST', '/confirm', { version })
    return [status, body['version']]
  }
  assert.deepEqual(await confirm(7), [409, 7])
  await rm(`${bed.state}.new`, { recursive: true })
  await bed.tell('PUT', '/routes', table(7))
  assert.deepEqual(await confirm(7), [200, 7])
  for (const other of [6, 8, '7', undefined]) assert.deepEqual(await confirm(other), [409, 7])
})

test('the control server rejects an invalid table and names the field', async (t) => {
  const bed = await testBed(t)
  await bed.tell('PUT', '/routes', table(1))
  const [route] = table(2).routes
  const wrong: [unknown, RegExp][] = [
    [null, /an object/],
    [{ version: 2 }, /^routes: a list/],
    [{ version: '2', routes: [] }, /^version/],
    [{ version: 2, routes: [route, route] }, /listed twice/],
    [
      { version: 2, routes: [{ ...route, endpoints: [{ address: 'db.internal', port: 80 }] }] },
      /routes\[0\].endpoints\[0\].address/,
    ],
    [{ version: 2, routes: [{ ...route, endpoints: [{ address: '::1', port: 0 }] }] }, /port/],
    ...[
      '',
      'A.test',
      'a.test:80',
      'a b',
      '`) || Host(`b',
      'a\nb',
      '*',
      'a.*.test',
      '*a.test',
      '{a}',
      '"a"',
      '.a',
      'a.',
    ].map((host): [unknown, RegExp] => [{ version: 2, routes: [{ ...route, host }] }, /routes\[0\].host/]),
  ]
  for (const [body, message] of wrong) {
    const answer = await bed.tell('PUT', '/routes', body)
    assert.equal(answer.status, 400)
    assert.match(String(answer.body['message']), message)
  }
  assert.deepEqual((await bed.tell('GET', '/routes')).body, table(1))
})

test('only its own user can open the control socket and read the stored table', async (t) => {
  const bed = await testBed(t)
  await bed.tell('PUT', '/routes', table(1))
  for (const path of [bed.control, bed.state]) assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('a router starts with its last table when the control plane is away', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  await bed.tell('PUT', '/routes', table(3, portOf(app)))
  await bed.router.stop(0)
  const config = { host: '127.0.0.1', port: bed.router.port, control: bed.control, state: bed.state, trusted: [] }
  const again = await startRouter(config, silentLog)
  t.after(() => again.stop(0))
  assert.equal((await bed.ask()).body, 'ok')
  assert.deepEqual((await bed.tell('GET', '/routes')).body, table(3, portOf(app)))
  await assert.rejects(startRouter({ ...config, port: 0 }, silentLog), /another router already listens/)
})

test('a router starts when the stored table is damaged and the socket file is stale', async (t) => {
  const bed = await testBed(t)
  await bed.router.stop(0)
  await writeFile(bed.state, '{"version":1,"rou')
  await writeFile(bed.control, '')
  const lines: string[] = []
  const config = { host: '127.0.0.1', port: 0, control: bed.control, state: bed.state, trusted: [] }
  const again = await startRouter(
    config,
    createLog((line) => lines.push(line)),
  )
  t.after(() => again.stop(0))
  assert.match(lines.join(''), /stored route table could not be read/)
  assert.equal((await bed.tell('PUT', '/routes', table(1))).status, 200)
})

test('a table takes effect when the disk cannot store it, and is stored when sent again', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  await mkdir(`${bed.state}.new`)
  assert.deepEqual((await bed.tell('PUT', '/routes', table(1, portOf(app)))).body, { version: 1, kept: false })
  assert.equal((await bed.ask()).body, 'ok')
  await rm(`${bed.state}.new`, { recursive: true })
  assert.deepEqual((await bed.tell('PUT', '/routes', table(1, portOf(app)))).body, { version: 1, kept: true })
  assert.deepEqual(JSON.parse(await readFile(bed.state, 'utf8')), table(1, portOf(app)))
})

test('GET /health reports the process, table and counts', async (t) => {
  const bed = await testBed(t)
  await bed.tell('PUT', '/routes', table(4))
  await bed.ask({ host: 'unknown.localhost' })
  const { body } = await bed.tell('GET', '/health')
  assert.deepEqual([body['pid'], body['version'], body['routes'], body['port']], [process.pid, 4, 1, bed.router.port])
  assert.match(JSON.stringify(body['counts']), /"requests":1,"open":0/)
  assert.equal((await bed.tell('GET', '/other')).status, 404)
})
