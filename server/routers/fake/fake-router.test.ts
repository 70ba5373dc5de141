import assert from 'node:assert/strict'
import test from 'node:test'
import { routerCases } from '../router.cases.ts'
import { createFakeRouter } from './fake-router.ts'

routerCases('fake router', async () => {
  const router = createFakeRouter()
  const names: string[] = []
  return {
    router,
    application: async (name) => {
      names.push(name)
      return { address: '127.0.0.1', port: names.length }
    },
    ask: async (host) => {
      const endpoint = router.routes.find((route) => route.host === host)?.endpoints[0]
      return endpoint && names[endpoint.port - 1]
    },
    askPort: async ({ port }) => {
      const endpoint = router.routes.find(({ listen }) => listen?.port === port)?.endpoints[0]
      return endpoint && names[endpoint.port - 1]
    },
    open: async (host) => {
      const end = router.open(host)
      return async () => end()
    },
    close: async () => {},
  }
})

test('fake router: throws the error that a test sets', async () => {
  const router = createFakeRouter()
  const { signal } = new AbortController()
  router.failWith(new Error('unreachable'))
  await assert.rejects(router.replaceAll([], signal), /unreachable/)
  await assert.rejects(router.drained([], 1, signal), /unreachable/)
  router.failWith(undefined)
  await router.replaceAll([], signal)
  assert.equal(router.replacements, 1)
})
