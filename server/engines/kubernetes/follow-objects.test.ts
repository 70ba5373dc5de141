import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../lib/clock.ts'
import { type ConfigMap, KubeError, kinds, type WatchEvent } from './client/index.ts'
import { followObjects, type Source } from './follow-objects.ts'
import { Informer } from './informer.ts'

const object = (name: string, resourceVersion: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', resourceVersion },
})
const event = (type: WatchEvent<ConfigMap>['type'], one: ConfigMap): WatchEvent<ConfigMap> => ({
  type,
  object: one,
  bytes: 100,
})
const added = (name: string, version: string) => event('ADDED', object(name, version))
/** Events, and an error that follows them. */
type Step = readonly (WatchEvent<ConfigMap> | KubeError)[]

/** A server that lists one object, and plays one step for each watch. */
function server(steps: readonly Step[]) {
  const asked: string[] = []
  let lists = 0
  let step = 0
  const kube = {
    list: async () => {
      asked.push('list')
      return { items: [object(`listed-${++lists}`, `${lists}00`)], resourceVersion: `${lists}00` }
    },
    async *watch(_kind: unknown, { resourceVersion }: { resourceVersion?: string | undefined }, signal: AbortSignal) {
      asked.push(`watch ${resourceVersion}`)
      const now = steps[step++]
      if (!now) return systemClock.sleep(60_000, signal)
      for (const one of now) {
        if (one instanceof KubeError) throw one
        yield one
      }
    },
  }
  const pauses: number[] = []
  const clock = {
    ...systemClock,
    monotonic: () => 0,
    sleep: async (ms: number) => void pauses.push(ms),
  }
  // The double has the two calls that are used, for one kind of objects.
  return { asked, pauses, kube: kube as unknown as Source['kube'], clock }
}

const wish = { kind: kinds.configMap, selection: {}, reduce: (one: ConfigMap) => one.metadata.name }
const expired = new KubeError(410, 'Expired', 'too old')

test('a watch continues after its server ended it, from the last version that was seen', async () => {
  const bookmark = event('BOOKMARK', object('', '150'))
  const source = server([[added('a', '120'), bookmark], [event('DELETED', object('a', '160'))]])
  const end = new AbortController()
  const seen: string[] = []
  for await (const objects of followObjects(source, wish, end.signal)) {
    seen.push([...objects.values()].join())
    if (seen.length === 3) break
  }
  assert.deepEqual(seen, ['listed-1', 'listed-1,a', 'listed-1'])
  assert.deepEqual(source.asked, ['list', 'watch 100', 'watch 150'])
  assert.deepEqual(source.pauses, [1_000])
})

test('a version that is too old is followed by a new list', async () => {
  const source = server([[expired]])
  const seen: string[] = []
  for await (const objects of followObjects(source, wish, new AbortController().signal)) {
    seen.push([...objects.values()].join())
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, ['listed-1', 'listed-2'])
  assert.deepEqual(source.asked, ['list', 'watch 100', 'list'])
})

test('a server that ends every watch at once is not asked in a loop', async () => {
  const source = server([[], [], []])
  const following = followObjects(source, wish, new AbortController().signal)
  await following.next()
  await assert.rejects(following.next(), { reason: 'Closed' })
})

test('a watch that is cut continues, and objects are as before meanwhile', async () => {
  const cut = new KubeError(0, 'Cut', 'the connection broke')
  const source = server([[added('a', '120'), cut], [added('b', '130')]])
  const seen: string[] = []
  for await (const objects of followObjects(source, wish, new AbortController().signal)) {
    seen.push([...objects.values()].join())
    if (seen.length === 3) break
  }
  assert.deepEqual(seen, ['listed-1', 'listed-1,a', 'listed-1,a,b'])
  assert.deepEqual(source.asked, ['list', 'watch 100', 'watch 120'])
})

test('a version that is always too old is asked for once a second', async () => {
  const source = server([[expired], [expired], [expired]])
  const following = followObjects(source, wish, new AbortController().signal)
  for (let lists = 0; lists < 4; lists++) await following.next()
  assert.deepEqual(source.pauses, [1_000, 1_000, 1_000])
})

test('a list that expires between its pages is repeated, and not without end', async () => {
  const source = server([])
  let lists = 0
  const list = async (): Promise<never> => {
    lists++
    throw expired
  }
  const following = followObjects({ ...source, kube: { ...source.kube, list } }, wish, new AbortController().signal)
  await assert.rejects(following.next(), { status: 410 })
  assert.equal(lists, 3)
})

test('an object without the fields of its kind is an error with a reason', async () => {
  const source = server([[added('a', '120')]])
  const reduce = (one: ConfigMap): string => {
    // As a reader of pods that have no specification.
    if (one.metadata.name === 'a') throw new TypeError('cannot read properties of undefined')
    return one.metadata.name
  }
  const following = followObjects(source, { ...wish, reduce }, new AbortController().signal)
  await following.next()
  await assert.rejects(following.next(), {
    reason: 'Unreadable',
    message: 'the API server sent ConfigMap n/a without its fields',
  })
})

test('a watch that sends objects without end is ended, with a reason', async () => {
  const events = Array.from({ length: 100_000 }, (_, index) => added(`a-${index}`, String(index)))
  const following = followObjects(server([events]), wish, new AbortController().signal)
  let most = 0
  const reading = (async () => {
    for await (const objects of following) most = Math.max(most, objects.size)
  })()
  await assert.rejects(reading, { reason: 'TooLong' })
  assert.equal(most, 20_000)
})

test('a server that sends more than its share is read slowly', async () => {
  const flood = Array.from({ length: 60 }, () => ({ ...added('a', '120'), bytes: 1024 * 1024 }))
  const source = server([flood])
  const following = followObjects(source, wish, new AbortController().signal)
  for (let seen = 0; seen <= flood.length; seen++) await following.next()
  const waitedMs = source.pauses.reduce((sum, ms) => sum + ms, 0)
  assert.ok(source.pauses.length > 0 && waitedMs >= 7_000, `${waitedMs} ms`)
})

test('an informer waits as long as a busy server asks', async (t) => {
  const busy = new KubeError(429, 'TooManyRequests', 'busy', { retryAfterMs: 7_000 })
  const { kube, clock, pauses } = server([[busy]])
  const informer = new Informer({ kube, clock, ...wish })
  t.after(() => informer.close())
  await assert.rejects(informer.objects(new AbortController().signal), { status: 429 })
  await until('it waits', () => pauses.length > 0)
  assert.equal(pauses[0], 7_000)
})

test('an informer says why the server is away, and is current again afterwards', async (t) => {
  const away = new KubeError(0, 'Unreachable', 'the API server cannot be reached')
  const { kube } = server([[added('a', '120'), away]])
  const pauses: number[] = []
  const gate = Promise.withResolvers<void>()
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms === 60_000) return systemClock.sleep(ms, signal)
      pauses.push(ms)
      await gate.promise
    },
  }
  const informer = new Informer({ kube, clock, ...wish })
  t.after(() => informer.close())
  const { signal } = new AbortController()
  await informer.objects(signal)
  await until('the server is away', () => pauses.length === 1)
  await assert.rejects(informer.objects(signal), /cannot be reached/)
  gate.resolve()
  await until('it is current', async () => {
    const objects = await informer.objects(signal).catch(() => new Map<string, string>())
    return [...objects.values()].join() === 'listed-2'
  })
  assert.deepEqual(pauses, [500])
})
