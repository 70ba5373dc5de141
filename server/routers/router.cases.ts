import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Route, RouteEndpoint, RoutePort } from '@quayside/contract/routes.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { until } from '../../test/support/until.ts'
import type { Router } from './router.ts'

/** A router with applications behind it, as each implementation provides them. */
export interface RouterUnderTest {
  readonly router: Router
  /** Starts an application that answers with its name, to requests and to datagrams at its port. */
  application(name: string): Promise<RouteEndpoint>
  /** Returns the name of the application that answers at a host, if any. */
  ask(host: string): Promise<string | undefined>
  /**
   * Returns the name of the application that answers at a port of the table, if any. Absent for a
   * router that carries HTTP only, beside which a cluster opens ports.
   */
  askPort?(listen: RoutePort): Promise<string | undefined>
  /**
   * Waits until this application answers at a host, or none. For a router whose requests follow the
   * table soon after it is applied. Without it they follow at once.
   */
  follows?(host: string, name: string | undefined): Promise<void>
  /** Returns the replicas behind endpoints, for a router that finds them by their release. */
  replicas?(endpoints: readonly RouteEndpoint[]): Route['replicas']
  /** Opens a request at a host. Returns a function that ends it. */
  open(host: string): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** A router with applications, and what the cases say about it. */
interface Subject extends RouterUnderTest {
  route(host: string, endpoints: readonly RouteEndpoint[]): Route
  /** Checks which applications answer at hosts. */
  answers(expected: Readonly<Record<string, string | undefined>>): Promise<void>
}

const subjectOf = (given: RouterUnderTest): Subject => ({
  ...given,
  route: (host, endpoints) => {
    const replicas = given.replicas?.(endpoints)
    return {
      host,
      service: `service of ${host}`,
      name: 'shop',
      endpoints,
      ...(replicas && { replicas }),
      ...(endpoints.length === 0 && { reason: 'stopped' }),
    }
  },
  answers: async (expected) => {
    for (const [host, name] of Object.entries(expected)) {
      await given.follows?.(host, name)
      assert.equal(await given.ask(host), name)
    }
  },
})

/**
 * The tests that every router passes, the real ones and the one in memory. `countsRequests` is
 * false for a router that does not see the requests.
 */
export function routerCases(
  name: string,
  create: () => Promise<RouterUnderTest>,
  { countsRequests = true }: { readonly countsRequests?: boolean } = {},
): void {
  const { signal } = new AbortController()
  const routerTest = (title: string, body: (subject: Subject, t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, async (t) => {
      const subject = subjectOf(await create())
      t.after(() => subject.close())
      await body(subject, t)
    })
  }

  routerTest('new requests follow the newest table as soon as it is applied', async (subject) => {
    const { router, application, route, answers } = subject
    const [a, b] = [await application('a'), await application('b')]
    await router.replaceAll([route('one.test', [a]), route('two.test', [b])], signal)
    await answers({ 'one.test': 'a', 'two.test': 'b', 'three.test': undefined })
    await router.replaceAll([route('one.test', [b]), route('two.test', [])], signal)
    await answers({ 'one.test': 'b', 'two.test': undefined })
    await router.replaceAll([], signal)
    await answers({ 'one.test': undefined })
  })

  routerTest('TCP and UDP ports follow the newest table, and keep their addresses', async (subject, t) => {
    const { router, application, route, askPort } = subject
    if (!askPort) return t.skip('this router carries HTTP only')
    const [a, b] = [await application('a'), await application('b')]
    const listens: readonly RoutePort[] = [
      { protocol: 'TCP', port: await findFreePort() },
      { protocol: 'UDP', port: await findFreePort() },
    ]
    const lead = (...endpoints: readonly RouteEndpoint[]) =>
      router.replaceAll(
        listens.map((listen) => ({ ...route(`shop.test:${listen.port}`, endpoints), listen })),
        signal,
      )
    const answers = (name: string | undefined) =>
      until(`${name} answers at both ports`, async () => {
        const [tcp, udp] = await Promise.all(listens.map(askPort))
        return tcp === name && udp === name
      })
    await lead(a)
    await answers('a')
    const addresses = await router.portAddresses(signal)
    await lead(b)
    await answers('b')
    await lead()
    await answers(undefined)
    await lead(a)
    await answers('a')
    assert.deepEqual(await router.portAddresses(signal), addresses)
    await router.replaceAll([], signal)
    await answers(undefined)
  })

  routerTest('the same table can be applied again, and of concurrent tables the last one wins', async (subject) => {
    const { router, application, route, answers } = subject
    const [a, b] = [await application('a'), await application('b')]
    const tables = [
      [route('one.test', [a])],
      [route('one.test', [a])],
      [route('one.test', [b])],
      [route('one.test', [a])],
    ]
    await Promise.all(tables.map((table) => router.replaceAll(table, signal)))
    await answers({ 'one.test': 'a' })
  })

  routerTest('renewing keeps the table, and can be repeated', async ({ router, application, route, answers }) => {
    await router.replaceAll([route('one.test', [await application('a')])], signal)
    await router.renew(signal)
    await router.renew(signal)
    await answers({ 'one.test': 'a' })
  })

  routerTest('endpoints without requests are drained at once, known or not', async ({ router, application, route }) => {
    const a = await application('a')
    await router.replaceAll([route('one.test', [a])], signal)
    assert.equal(await router.drained([a, { address: '127.0.0.9', port: 1 }], 10_000, signal), 0)
    assert.equal(await router.drained([], 10_000, signal), 0)
  })

  if (!countsRequests) return

  routerTest('waits for open requests and returns how many are left after the timeout', async (subject) => {
    const { router, application, open, route, answers } = subject
    const [a, b] = [await application('a'), await application('b')]
    await router.replaceAll([route('one.test', [a])], signal)
    const end = await open('one.test')
    const endSecond = await open('one.test')
    await router.replaceAll([route('one.test', [b])], signal)
    await answers({ 'one.test': 'b' })
    assert.equal(await router.drained([a], 30, signal), 2)
    const drained = router.drained([a], 10_000, signal)
    await end()
    await endSecond()
    assert.equal(await drained, 0)
  })

  routerTest('stops waiting when the signal is aborted', async ({ router, application, open, route }) => {
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
