import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChoosingRouter } from './choosing-router.ts'
import { usesOwnRouters } from './cluster-router.ts'
import { createFakeRouter } from './fake/fake-router.ts'

const { signal } = new AbortController()

test('a cluster uses our router without an ingress controller, and keeps it once it has it', () => {
  const uses = (hasOwnRouters: boolean, hasController: boolean) => usesOwnRouters({ hasOwnRouters, hasController })
  assert.deepEqual(
    [uses(false, true), uses(false, false), uses(true, true), uses(true, false)],
    [false, true, true, true],
  )
})

test('a router is chosen once, again after a failure, and again by a check of the cluster', async () => {
  const [first, second] = [createFakeRouter(), createFakeRouter()]
  const answers = [() => Promise.reject(new Error('away')), async () => first, async () => second]
  let asked = 0
  const router = createChoosingRouter(() => answers[Math.min(asked++, 2)]?.() ?? Promise.reject(new Error('none')))
  const table = [{ host: 'a.test', service: 's', name: 'a', endpoints: [] }]
  await assert.rejects(router.replaceAll(table, signal), /away/)
  assert.deepEqual([router.countsRequests(), router.sharesRequests()], [true, true])
  Object.assign(first, { countsRequests: () => false, sharesRequests: () => false })
  await router.replaceAll(table, signal)
  assert.deepEqual([router.countsRequests(), router.sharesRequests()], [false, false])
  await router.drained([], 0, signal)
  assert.deepEqual([first.routes.length, asked], [1, 2])
  await router.listFindings(signal)
  await router.replaceAll(table, signal)
  assert.deepEqual([second.routes.length, asked], [1, 3])
})
