import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import type { Router } from './router.ts'

/** A router with applications behind it, as each implementation provides them. */
export interface RouterUnderTest {
  readonly router: Router
  /** Starts an application that answers with its name. */
  application(name: string): Promise<RouteEndpoint>
  /** Returns the name of the application that answers at a host, if any. */
  ask(host: string): Promise<string | undefined>
  /** Opens a request at a host. Returns a function that ends it. */
  open(host: string): Promise<() => Promise<void>>
  close(): Promise<void>
}

const route = (host: string, endpoints: readonly RouteEndpoint[]): Route => ({
  host,
  service: 'service',
  name: 'shop',
  endpoints,
  ...(endpoints.length === 0 && { reason: 'stopped' }),
})

/** The tests that every router passes, the real one and the one in memory. */
export function routerCases(name: string, create: () => Promise<RouterUnderTest>): void {
  const { signal } = new AbortController()
  const routerTest = (title: string, body: (subject: RouterUnderTest) => Promise<void>): void => {
    test(`${name}: ${title}`, async (t) => {
      const subject = await create()
      t.after(() => subject.close())
      await body(subject)
    })
  }

  routerTest('new requests follow the newest table as soon as it is applied', async ({ router, application, ask }) => {
    const [a, b] = [await application('a'), await application('b')]
    await router.replaceAll([route('one.test', [a]), route('two.test', [b])], signal)
    assert.deepEqual([await ask('one.test'), await ask('two.test'), await ask('three.test')], ['a', 'b', undefined])
    await router.replaceAll([route('one.test', [b]), route('two.test', [])], signal)
    assert.deepEqual([await ask('one.test'), await ask('two.test')], ['b', undefined])
    await router.replaceAll([], signal)
    assert.equal(await ask('one.test'), undefined)
  })

  routerTest('the same table can be applied again, and of concurrent tables the last one wins', async (subject) => {
    const { router, application, ask } = subject
    const [a, b] = [await application('a'), await application('b')]
    const tables = [
      [route('one.test', [a])],
      [route('one.test', [a])],
      [route('one.test', [b])],
      [route('one.test', [a])],
    ]
    await Promise.all(tables.map((table) => router.replaceAll(table, signal)))
    assert.equal(await ask('one.test'), 'a')
  })

  routerTest('renewing keeps the table, and can be repeated', async ({ router, application, ask }) => {
    await router.replaceAll([route('one.test', [await application('a')])], signal)
    await router.renew(signal)
    await router.renew(signal)
    assert.equal(await ask('one.test'), 'a')
  })

  routerTest('endpoints without requests are drained at once, known or not', async ({ router, application }) => {
    const a = await application('a')
    await router.replaceAll([route('one.test', [a])], signal)
    assert.equal(await router.drained([a, { address: '127.0.0.9', port: 1 }], 10_000, signal), 0)
    assert.equal(await router.drained([], 10_000, signal), 0)
  })

  routerTest('waits for open requests and returns how many are left after the timeout', async (subject) => {
    const { router, application, open, ask } = subject
    const [a, b] = [await application('a'), await application('b')]
    await router.replaceAll([route('one.test', [a])], signal)
    const end = await open('one.test')
    const endSecond = await open('one.test')
    await router.replaceAll([route('one.test', [b])], signal)
    assert.equal(await ask('one.test'), 'b')
    assert.equal(await router.drained([a], 30, signal), 2)
    const drained = router.drained([a], 10_000, signal)
    await end()
    await endSecond()
    assert.equal(await drained, 0)
  })

  routerTest('stops waiting when the signal is aborted', async ({ router, application, open }) => {
    const a = await application('a')
    await router.replaceAll([route('one.test', [a])], signal)
    const end = await open('one.test')
    const stopped = new AbortController()
    const waiting = router.drained([a], 10_000, stopped.signal)
    stopped.abort(new Error('called off'))
    await assert.rejects(waiting, /called off|aborted/)
    await end()
    await assert.rejects(router.replaceAll([], stopped.signal), /called off/)
  })
}
