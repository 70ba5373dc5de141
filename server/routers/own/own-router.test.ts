import assert from 'node:assert/strict'
import type { Server, ServerResponse } from 'node:http'
import test from 'node:test'
import { until } from '../../../test/support/until.ts'
import { AppError } from '../../lib/error.ts'
import { type RouterUnderTest, routerCases } from '../router.cases.ts'
import { askRouter } from './control.ts'
import { createOwnRouter } from './own-router.ts'
import { application, ask, routerHome } from './testing.ts'

const { signal } = new AbortController()

async function underTest(): Promise<RouterUnderTest> {
  const home = await routerHome()
  const servers: Server[] = []
  const waiting: ServerResponse[] = []
  let holding = false
  return {
    router: createOwnRouter({ process: home.options }),
    application: async (name) => {
      const { server, endpoint } = await application((_, response) => {
        if (holding) waiting.push(response)
        else response.end(name)
      })
      servers.push(server)
      return endpoint
    },
    ask: async (host) => {
      const { status, body } = await ask(home.process.port, host)
      return status === 200 ? body : undefined
    },
    open: async (host) => {
      holding = true
      const answer = ask(home.process.port, host)
      const before = waiting.length
      await until('the request is open', () => waiting.length > before)
      holding = false
      const response = waiting[before]
      return async () => {
        response?.end('')
        await answer
      }
    },
    close: async () => {
      for (const server of servers) server.close().closeAllConnections()
      await home.close()
    },
  }
}

routerCases('own router', underTest)

test('own router: continues from the version of the process and keeps it for the same table', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const { controlSocket } = home.options
  const versionNow = async (): Promise<unknown> =>
    (await askRouter(controlSocket, { method: 'GET', path: '/health', timeoutMs: 5_000 })).body['version']
  const routes = [{ host: 'a.test', service: 's', name: 'a', endpoints: [] }]
  const body = { version: 41, routes }
  await askRouter(controlSocket, { method: 'PUT', path: '/routes', body, timeoutMs: 5_000 })
  const router = createOwnRouter({ process: home.options })
  await router.replaceAll([], signal)
  assert.equal(await versionNow(), 42)
  await router.replaceAll([], signal)
  assert.equal(await versionNow(), 42)
  const other = createOwnRouter({ process: home.options })
  await other.replaceAll(routes, signal)
  await router.replaceAll([], signal)
  assert.equal(await versionNow(), 44)
})

test('own router: reports that the process is unreachable or rejects the table', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const router = createOwnRouter({ process: home.options })
  const bad = [{ host: 'A.test:80', service: 's', name: 'a', endpoints: [] }]
  await assert.rejects(router.replaceAll(bad, signal), /the router answered 400: .*routes\[0\].host/)
  const nowhere = createOwnRouter({ process: { ...home.options, controlSocket: `${home.options.controlSocket}.not` } })
  const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable'
  await assert.rejects(nowhere.replaceAll([], signal), isUnavailable)
  await assert.rejects(nowhere.drained([], 10, signal), isUnavailable)
})
