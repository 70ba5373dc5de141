import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { systemClock } from '../../lib/clock.ts'
import { type ConfigMap, KubeError, kinds, type WatchEvent } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import { Informer } from './informer.ts'

const object = (name: string, resourceVersion: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'n', resourceVersion },
})
const added = (name: string, version: string) => ({ type: 'ADDED', object: object(name, version) }) as const
type Step = readonly WatchEvent<ConfigMap>[] | KubeError

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
      if (now instanceof KubeError) throw now
      if (now) return yield* now
      await systemClock.sleep(60_000, signal)
    },
  }
  // The double has the two calls that are used, for one kind of objects.
  return { asked, kube: kube as unknown as Parameters<typeof followObjects>[0] }
}

const wish = { kind: kinds.configMap, selection: {}, reduce: (one: ConfigMap) => one.metadata.name }
const expired = new KubeError(410, 'Expired', 'too old')

test('a watch continues after its server ended it, from the last version that was seen', async () => {
  const bookmark = { type: 'BOOKMARK', object: object('', '150') } as const
  const { asked, kube } = server([[added('a', '120'), bookmark], [{ type: 'DELETED', object: object('a', '160') }]])
  const end = new AbortController()
  const seen: string[] = []
  for await (const objects of followObjects(kube, wish, end.signal)) {
    seen.push([...objects.values()].join())
    if (seen.length === 3) break
  }
  assert.deepEqual(seen, ['listed-1', 'listed-1,a', 'listed-1'])
  assert.deepEqual(asked, ['list', 'watch 100', 'watch 150'])
})

test('a version that is too old is followed by a new list', async () => {
  const { asked, kube } = server([expired])
  const seen: string[] = []
  for await (const objects of followObjects(kube, wish, new AbortController().signal)) {
    seen.push([...objects.values()].join())
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, ['listed-1', 'listed-2'])
  assert.deepEqual(asked, ['list', 'watch 100', 'list'])
})

test('a server that ends every watch at once is not asked in a loop', async () => {
  const { kube } = server([[], []])
  const following = followObjects(kube, wish, new AbortController().signal)
  await following.next()
  await assert.rejects(following.next(), { reason: 'Closed' })
})

test('an informer says why the server is away, and is current again afterwards', async (t) => {
  const away = new KubeError(0, 'Unreachable', 'the API server cannot be reached')
  const { kube } = server([[added('a', '120')], away])
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
