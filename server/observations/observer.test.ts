import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import type { Database } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { fakeWorkload } from '../engines/fake/fake-workload.ts'
import { EngineError, FakeEngine, type Release } from '../engines/index.ts'
import { type Attempt, silent } from '../lib/attempt.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { addPlace, addService, type Place } from '../variables/testing.ts'
import { insertObservation } from './observation-store.ts'
import { createObserver, type Observer } from './observer.ts'
import type { ObserverOptions } from './observer-options.ts'
import { beginRequest } from './testing.ts'

/** One service, its engine, and an observer that looks only when asked to. */
interface Bench {
  readonly sql: Database
  readonly engine: FakeEngine
  readonly observer: Observer
  readonly place: Place
  readonly service: string
  /** The releases that traffic was moved to, in order. */
  readonly moved: string[]
  release(): Release
  /** Sets the release that should run. */
  wish(release: string | null): Promise<void>
  /** Begins a request that acts on the service. Returns a function that ends it. */
  begin(): Promise<() => Promise<void>>
  look(): Promise<void>
  /** Looks again and again: a look passes over a service whose last repair has not ended. */
  lookUntil(what: string, isMet: () => boolean | Promise<boolean>): Promise<unknown>
  running(): Promise<string[]>
}

async function openBench(t: Cleanup, change: Partial<ObserverOptions> = {}): Promise<Bench> {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  await sql`update cluster set engine = 'local'`
  const { serviceId: service, environmentId: environment } = place.service
  const engine = new FakeEngine({ clock: systemClock })
  let turns = 0
  const moved: string[] = []
  const release = (id = newId()): Release => ({
    id,
    service,
    environment,
    displayName: 'app',
    workload: fakeWorkload('app'),
  })
  const observer = createObserver({
    database: sql,
    clock: systemClock,
    log: silentLogger,
    name: 'local',
    engine,
    restartRelease: (_wish, id, attempt) => engine.start(release(id), attempt),
    moveTraffic: async (_service, id) => void moved.push(id),
    isScratch: async () => false,
    isNew: async () => false,
    leave: async () => true,
    endLeaving: ({ id }, names, attempt) => engine.endReplicas(id, names, attempt),
    failed: async () => {},
    troubleOf: () => undefined,
    routesMark: async () => '',
    routeMarks: async () => new Map(),
    wishMark: async () => String(turns++),
    lastLines: async () => [],
    isCollected: () => true,
    collect: () => {},
    ...change,
  })
  const { signal } = new AbortController()
  return {
    sql,
    engine,
    observer,
    place,
    service,
    moved,
    release,
    wish: async (id) => void (await sql`update service set release_id = ${id} where id = ${service}`),
    begin: () => beginRequest(sql, environment, service),
    look: () => observer.reconcile(signal),
    lookUntil: (what, isMet) =>
      until(what, async () => {
        await observer.reconcile(signal)
        return isMet()
      }),
    running: async () => {
      const observation = await engine.observe(service, signal)
      return observation.state === 'absent' ? [] : observation.replicas.map((replica) => replica.release).sort()
    },
  }
}

const attempt: Attempt = { signal: new AbortController().signal, output: silent }

test('observer starts a missing release and ends one that should not run', async (t) => {
  const { engine, look, lookUntil, running, release, wish } = await openBench(t)
  const [wanted, stray] = [release(), release()]
  await wish(wanted.id)
  await look()
  await until('it was started', async () => (await running()).includes(wanted.id))
  await engine.start(stray, attempt)
  await lookUntil('the stray is gone', async () => (await running()).join() === wanted.id)
  await wish(null)
  await lookUntil('nothing runs', async () => (await running()).length === 0)
})

test('observer stores what it sees and moves traffic', async (t) => {
  const { sql, engine, look, moved, release, wish } = await openBench(t)
  const wanted = release()
  await engine.start(wanted, attempt)
  await wish(wanted.id)
  await look()
  assert.deepEqual(
    [
      ...(await sql`select state, release_id
    from observation`),
    ],
    [{ state: 'running', release_id: wanted.id }],
  )
  assert.deepEqual(moved, [wanted.id])
  engine.crash(wanted.service, 3)
  await look()
  const [row] = await sql`select state, reason from observation`
  assert.deepEqual(row, { state: 'failing', reason: 'exited with code 3, 3 times' })
})

test('observer stores a reason for a container that was removed by hand', async (t) => {
  const { sql, engine, look, release, wish } = await openBench(t)
  const wanted = release()
  await engine.start(wanted, attempt)
  await wish(wanted.id)
  await look()
  await engine.retire(wanted.service, undefined, attempt)
  engine.start = () => new Promise(() => {})
  await look()
  const [row] = await sql`select state, reason from observation`
  assert.equal(row?.['state'], 'absent')
  assert.match(String(row?.['reason']), /Its container no longer exists/)
})

test('observer keeps the reason and the last lines of a failing service until it has recovered', async (t) => {
  let printed = 'heap is full'
  const { sql, engine, look, release, wish } = await openBench(t, { lastLines: async () => [printed] })
  const wanted = release()
  await engine.start(wanted, attempt)
  await wish(wanted.id)
  const see = engine.observeAll.bind(engine)
  const pretend = async (state: 'failing' | 'running', reason: string | undefined, outOfMemory: boolean) => {
    engine.observeAll = async (signal) => {
      const seen = (await see(signal)).get(wanted.service)
      assert.ok(seen && seen.state !== 'absent')
      const replicas = seen.replicas.map((replica) => ({ ...replica, outOfMemory, exits: reason ? 4 : 0 }))
      return new Map([[wanted.service, { ...seen, state, replicas, ...(reason ? { reason } : {}) }]])
    }
    await look()
    return (await sql<{ state: string; reason: string | null }[]>`select state, reason from observation`)[0]
  }
  const first = 'ran out of memory, exited 4 times\nheap is full'
  assert.deepEqual(await pretend('failing', 'ran out of memory, exited 4 times', true), {
    state: 'failing',
    reason: first,
  })
  printed = 'up again'
  assert.deepEqual(await pretend('failing', 'exited 4 times', false), { state: 'failing', reason: first })
  assert.deepEqual(await pretend('running', undefined, false), { state: 'running', reason: null })
  assert.equal((await pretend('failing', 'exited 5 times', false))?.reason, 'exited 5 times\nup again')
})

test('observer moves traffic to unexpected replicas only once they are healthy', async (t) => {
  const started: string[] = []
  const { engine, look, moved, release, wish } = await openBench(t, {
    isNew: async () => started.length === 0,
    restartRelease: async (_, id) => {
      assert.deepEqual(moved, [])
      started.push(id)
      return [{ replica: 'r', port: 8080, address: '10.0.0.1' }]
    },
  })
  const wanted = release()
  await engine.start(wanted, attempt)
  await wish(wanted.id)
  await look()
  await until('traffic goes there', () => moved.length === 1)
  assert.deepEqual(started, [wanted.id])
})

test('observer waits for the end of leaving replicas before it does anything else to the service', async (t) => {
  const { sql, engine, look, observer, release, service, wish } = await openBench(t)
  const wanted = release()
  await engine.start({ ...wanted, workload: { ...wanted.workload, replicas: { min: 2, max: 2 } } }, attempt)
  await wish(wanted.id)
  const [told, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const end = engine.endReplicas.bind(engine)
  engine.endReplicas = async (id, names, ending) => {
    told.resolve()
    await ended.promise
    assert.equal(ending.signal.aborted, false)
    await end(id, names, ending)
  }
  await look()
  await told.promise
  let isFree = false
  const freed = observer.endRepair(service).then(() => {
    isFree = true
  })
  await sql`select 1`
  assert.equal(isFree, false)
  ended.resolve()
  await freed
  assert.equal(engine.effects.removed, 1)
})

test('observer leaves a service to its request, but not others of the environment', async (t) => {
  const { sql, engine, look, lookUntil, running, place, release, begin, wish } = await openBench(t)
  await wish(null)
  const end = await begin()
  const [own, other] = [release(), { ...release(), service: (await addService(sql, place.environment)).serviceId }]
  await engine.start(own, attempt)
  await engine.start(other, attempt)
  await look()
  await look()
  await until(
    'the other is ended',
    async () => (await engine.observe(other.service, attempt.signal)).state === 'absent',
  )
  assert.deepEqual(await running(), [own.id])
  await end()
  await lookUntil('what the request left is ended', async () => (await running()).length === 0)
})

test('observer skips unchanged services until the desired state or the routes change', async (t) => {
  let [collected, routes] = [0, 0]
  const { engine, look, moved, running, release, wish } = await openBench(t, {
    collect: () => void collected++,
    routesMark: async () => String(routes),
    routeMarks: async (ids) => new Map(ids.map((id) => [id, String(routes)])),
  })
  const [former, next] = [release(), release()]
  await engine.start(former, attempt)
  await wish(former.id)
  const seen = await engine.observeAll(attempt.signal)
  engine.observeAll = async () => seen
  for (let n = 0; n < 3; n++) await look()
  assert.deepEqual([collected, moved], [1, [former.id]])
  routes++
  await look()
  assert.deepEqual([collected, moved], [2, [former.id, former.id]])
  await wish(next.id)
  await look()
  await until('what is wished now runs', async () => (await running()).includes(next.id))
})

test('observer collects the lines of an unchanged service until they are collected', async (t) => {
  let [collected, isCollected] = [0, false]
  const { engine, look, release, wish } = await openBench(t, {
    isCollected: () => isCollected,
    collect: () => void collected++,
  })
  const own = release()
  await engine.start(own, attempt)
  await wish(own.id)
  const seen = await engine.observeAll(attempt.signal)
  engine.observeAll = async () => seen
  for (let n = 0; n < 3; n++) await look()
  assert.equal(collected, 3)
  isCollected = true
  await look()
  assert.equal(collected, 3)
})

test('observer warns with the reason while a running service cannot be reached', async (t) => {
  let trouble: string | undefined
  const { sql, engine, look, release, running, service, wish } = await openBench(t, { troubleOf: () => trouble })
  const told = async () => [...(await sql`select state, reason from observation where service_id = ${service}`)]
  const own = release()
  await engine.start(own, attempt)
  await wish(own.id)
  const seen = await engine.observeAll(attempt.signal)
  engine.observeAll = async () => seen
  await look()
  assert.deepEqual(await told(), [{ state: 'running', reason: null }])
  trouble = 'its port is in use'
  await look()
  assert.deepEqual(await told(), [{ state: 'warning', reason: 'its port is in use' }])
  assert.deepEqual(await running(), [own.id])
  trouble = undefined
  await look()
  assert.deepEqual(await told(), [{ state: 'running', reason: null }])
})

test('observer applies a change of the desired state made during a look, even if the next look is the same', async (t) => {
  const { engine, look, moved, release, wish } = await openBench(t)
  const [former, next] = [release(), release()]
  await engine.start(former, attempt)
  await wish(former.id)
  await look()
  await engine.start(next, attempt)
  await engine.retire(next.service, next.id, attempt)
  const seen = await engine.observeAll(attempt.signal)
  engine.observeAll = async () => {
    await wish(next.id)
    return seen
  }
  await look()
  assert.deepEqual(moved, [former.id])
  await look()
  assert.deepEqual(moved, [former.id, next.id])
})

test('observer ignores what it saw before a request', async (t) => {
  const { engine, look, moved, running, release, wish, begin } = await openBench(t)
  const [former, next] = [release(), release()]
  await engine.start(former, attempt)
  await wish(former.id)
  const see = engine.observeAll.bind(engine)
  engine.observeAll = async (signal) => {
    const seen = await see(signal)
    const end = await begin()
    await engine.start(next, attempt)
    await wish(next.id)
    await engine.retire(next.service, next.id, attempt)
    await end()
    return seen
  }
  await look()
  assert.deepEqual(moved, [])
  assert.deepEqual(await running(), [next.id])
  assert.equal(engine.effects.created, 2)
})

test('observer does not touch the release of a request that begins during a look', async (t) => {
  const { engine, look, running, release, wish, begin } = await openBench(t)
  const [former, next] = [release(), release()]
  await engine.start(former, attempt)
  await wish(former.id)
  const see = engine.observeAll.bind(engine)
  engine.observeAll = async (signal) => {
    await engine.start(next, attempt)
    const seen = await see(signal)
    await begin()
    return seen
  }
  await look()
  assert.deepEqual(await running(), [former.id, next.id].sort())
})

test('observer drops a repair if a request begins before it starts', async (t) => {
  let begin = async (): Promise<unknown> => undefined
  const bench = await openBench(t, { moveTraffic: async () => void (await begin()) })
  const { engine, look, observer, running, release, service, wish } = bench
  const [former, next] = [release(), release()]
  await wish(former.id)
  await engine.start(former, attempt)
  await engine.start(next, attempt)
  begin = bench.begin
  await look()
  await observer.endRepair(service)
  assert.deepEqual(await running(), [former.id, next.id].sort())
})

test('endRepair waits until a running repair has ended', async (t) => {
  const bench = await openBench(t)
  const { engine, look, observer, running, release, service, wish } = bench
  const [former, next] = [release(), release()]
  await wish(former.id)
  await engine.start(former, attempt)
  await engine.start(release(), attempt)
  const retired = Promise.withResolvers<void>()
  const retire = engine.retire.bind(engine)
  // Some engines list a container first and end it later.
  engine.retire = async (id, keep, ending) => {
    retired.resolve()
    await new Promise<void>((resolve) => ending.signal.addEventListener('abort', () => resolve(), { once: true }))
    await retire(id, keep, ending)
  }
  await look()
  await retired.promise
  await bench.begin()
  await observer.endRepair(service)
  engine.retire = retire
  await engine.start(next, attempt)
  await look()
  assert.ok((await running()).includes(next.id))
})

test('observer ends a service without a record, but not one that was just created', async (t) => {
  const { sql, engine, look, place, release } = await openBench(t)
  const orphan = { ...release(), service: newId() }
  await engine.start(orphan, attempt)
  await look()
  const fresh = { ...release(), service: '' }
  const see = engine.observeAll.bind(engine)
  engine.observeAll = async (signal) => {
    const { serviceId } = await addService(sql, place.environment)
    await engine.start(Object.assign(fresh, { service: serviceId }), attempt)
    return see(signal)
  }
  await look()
  await until(
    'the orphan is ended',
    async () => (await engine.observe(orphan.service, attempt.signal)).state === 'absent',
  )
  assert.equal((await engine.observe(fresh.service, attempt.signal)).state, 'running')
})

test('observer leaves a service to its deletion, and ends what still runs at the next look', async (t) => {
  const taken: string[] = []
  const { sql, engine, look, release, service } = await openBench(t, {
    isScratch: async (id) => {
      taken.push(id)
      return false
    },
  })
  await engine.start(release(), attempt)
  await look()
  const see = engine.observeAll.bind(engine)
  t.mock.method(engine, 'observeAll', async (signal: AbortSignal) => {
    const seen = await see(signal)
    await sql`delete from service where id = ${service}`
    return seen
  })
  await look()
  assert.deepEqual(taken, [])
  await look()
  assert.deepEqual(taken, [service])
  await until('it is ended', async () => (await engine.observe(service, attempt.signal)).state === 'absent')
})

test('observer ignores a service without a record while a backup is being proven', async (t) => {
  const proof = newId()
  const { engine, look, release } = await openBench(t, { isScratch: async (id) => id === proof })
  const [proven, orphan] = [proof, newId()].map((service) => ({ ...release(), service }))
  if (!proven || !orphan) return assert.fail()
  for (const one of [proven, orphan]) await engine.start(one, attempt)
  await look()
  await look()
  await until(
    'the orphan is ended',
    async () => (await engine.observe(orphan.service, attempt.signal)).state === 'absent',
  )
  assert.equal((await engine.observe(proof, attempt.signal)).state, 'running')
})

test('observer stores why a service cannot be restarted, and retries with growing delays', async (t) => {
  let monotonic = 0
  let tries = 0
  const { sql, lookUntil, release, wish } = await openBench(t, {
    clock: { ...systemClock, monotonic: () => monotonic },
    restartRelease: async () => {
      tries++
      throw new EngineError('image-missing', 'the image is gone; deploy again')
    },
  })
  await wish(release().id)
  for (const [at, expected] of [
    [0, 1],
    [1999, 1],
    [2001, 2],
    [5900, 2],
    [6100, 3],
  ] as const) {
    monotonic = at
    await lookUntil(`${expected} tries at ${at} ms`, () => tries >= expected)
    assert.equal(tries, expected)
    await until('it was written down', async () => (await sql`select from observation where state = 'failing'`)[0])
  }
  const [row] = await sql`select reason from observation`
  assert.deepEqual(row, { reason: 'the image is gone; deploy again' })
})

test('observations keep the image of each replica and the times of its program', async (t) => {
  const { sql, engine, look, release, service, wish } = await openBench(t)
  const wanted = release()
  await engine.start(wanted, attempt)
  await wish(wanted.id)
  engine.crash(service, 3)
  await look()
  const [row] = await sql<{ replicas: Record<string, unknown>[] }[]>`select replicas from observation`
  const { image, startedAt, finishedAt, exitCode } = row?.replicas[0] ?? {}
  assert.deepEqual([image, exitCode], [wanted.workload.image, 3])
  assert.ok(Date.parse(String(startedAt)) <= Date.parse(String(finishedAt)), `${startedAt} to ${finishedAt}`)
})

test('observations that are older than the desired state are not stored', async (t) => {
  const { sql, release, service, wish } = await openBench(t)
  const [former, next] = [release().id, release().id]
  await wish(next)
  const now = new Date()
  await insertObservation(
    sql,
    { id: service, release_id: next },
    { state: 'running', release: next, replicas: [] },
    now,
  )
  await insertObservation(sql, { id: service, release_id: former }, { state: 'absent' }, now)
  assert.deepEqual(
    [
      ...(await sql`select state, release_id
    from observation`),
    ],
    [{ state: 'running', release_id: next }],
  )
})

test('observer sends nothing while an engine is settled, and looks again after each change', async (t) => {
  const given = { wishes: 'first', routes: 'first' }
  const bench = await openBench(t, { wishMark: async () => given.wishes, routesMark: async () => given.routes })
  const { sql, engine, look } = bench
  const observeAll = engine.observeAll.bind(engine)
  let seen: Awaited<ReturnType<typeof observeAll>> | undefined
  engine.observeAll = async (signal) => {
    seen ??= await observeAll(signal)
    return seen
  }
  const wanted = bench.release()
  await engine.start(wanted, attempt)
  await bench.wish(wanted.id)
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn++) await look()
    // A statement would fail now.
    await sql`alter table service rename to hidden`
    await look()
  }
  const looksAgain = async (): Promise<void> => {
    await assert.rejects(look(), /service/)
    await sql`alter table hidden rename to service`
    await settle()
  }
  await settle()
  given.wishes = 'second'
  await looksAgain()
  given.routes = 'second'
  await looksAgain()
  seen = undefined
  await looksAgain()
  // Another server may have stored something else since.
  bench.observer.renew()
  await looksAgain()
})
