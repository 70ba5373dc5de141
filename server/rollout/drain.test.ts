import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeEngine } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createFakeRouter } from '../routers/index.ts'
import { drainOthers } from './drain.ts'

const replica = (release: string, address: string) => ({
  name: release,
  release,
  running: true,
  image: 'image',
  exits: 0,
  outOfMemory: false,
  endpoints: [{ replica: release, address, port: 8080 }],
})
const { signal } = new AbortController()

test('drainOthers waits for requests on releases that end, whatever the routes name', async () => {
  const replicas = [replica('former', '192.0.2.1'), replica('new', '192.0.2.2')]
  const engine = Object.assign(new FakeEngine({ clock }), {
    observe: async () => ({ state: 'running' as const, release: 'new', replicas }),
  })
  const router = createFakeRouter()
  const asked: unknown[] = []
  const drained: typeof router.drained = async (endpoints) => {
    asked.push(endpoints)
    return 3
  }
  const options = { engine, router: { ...router, drained }, drainMs: 1000, clock }
  assert.equal(await drainOthers(options, silent, { id: 'service', keep: 'new' }, signal), 3)
  await drainOthers(options, silent, { id: 'service', keep: undefined }, signal)
  const [former, present] = [
    { address: '192.0.2.1', port: 8080 },
    { address: '192.0.2.2', port: 8080 },
  ]
  assert.deepEqual(asked, [[former], [former, present]])
})

test('drainOthers does not ask the router when no release ends', async () => {
  const router = createFakeRouter()
  router.failWith(new Error('asked'))
  const options = { engine: new FakeEngine({ clock }), router, drainMs: 1000, clock }
  assert.equal(await drainOthers(options, silent, { id: 'service', keep: 'new' }, signal), 0)
})
