import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import test from 'node:test'
import { AppError } from '../../lib/error.ts'
import { createOwnRouter } from './own-router.ts'
import { ensureRouterProcess } from './router-process.ts'
import { superviseRouter } from './supervise-router.ts'
import { application, ask, endProcess, isAlive, routerHome, until } from './testing.ts'

const { signal } = new AbortController()

test('a running router process is adopted, one with another address replaced', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  assert.equal(home.process.adopted, false)
  const again = await ensureRouterProcess(home.options)
  assert.deepEqual(again, { pid: home.process.pid, port: home.process.port, adopted: true })
  const other = await ensureRouterProcess({ ...home.options, trusted: ['10.0.0.0/8'] })
  assert.equal(other.adopted, false)
  await until(() => !isAlive(home.process.pid), 'the old process is gone')
  assert.equal((await ask(other.port, 'unknown.test')).status, 404)
  assert.equal((await stat(home.options.controlSocket)).mode & 0o777, 0o600)
})

test('a killed router process comes back by itself with the table that it had, without the control plane', async (t) => {
  const home = await routerHome()
  const { server, endpoint } = await application((_, response) => response.end('ok'))
  t.after(async () => {
    server.close().closeAllConnections()
    await home.close()
  })
  const route = { host: 'app.test', service: 's', name: 'app', endpoints: [endpoint] }
  await createOwnRouter({ controlSocket: home.options.controlSocket }).replaceAll([route], signal)
  const started: number[] = []
  const supervisor = superviseRouter(home.options, ({ pid }) => started.push(pid))
  await supervisor.reconcile(signal)
  assert.deepEqual(started, [])
  await endProcess(home.process.pid)
  await assert.rejects(ask(home.process.port, 'app.test'))
  await supervisor.reconcile(signal)
  assert.equal(started.length, 1)
  assert.equal((await ask(home.process.port, 'app.test')).body, 'ok')
})

test('a socket file that nobody listens on is replaced', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  await endProcess(home.process.pid)
  await writeFile(home.options.controlSocket, '').catch(() => {})
  assert.equal((await ensureRouterProcess(home.options)).adopted, false)
})

test('a port that another program uses is named together with the setting that changes it', async (t) => {
  const home = await routerHome()
  const { server, endpoint } = await application(() => {})
  t.after(async () => {
    server.close()
    await home.close()
  })
  await endProcess(home.process.pid)
  const attempt = ensureRouterProcess({ ...home.options, port: endpoint.port })
  await assert.rejects(attempt, (error: unknown) => {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'unavailable')
    assert.match(error.message, new RegExp(`Port ${endpoint.port} on 127.0.0.1.*QUAYSIDE_ROUTER_PORT`))
    return true
  })
})
