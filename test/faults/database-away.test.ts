import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type CutDatabase, cutDatabase } from '../../server/database/testing-proxy.ts'
import { createPlatform } from '../support/platform.ts'
import { now, until } from '../support/until.ts'

/**
 * The connection to PostgreSQL is cut, PostgreSQL stays silent, or all its connections are in use.
 * The tests check what requests and health checks answer meanwhile.
 */
let made: CutDatabase | undefined
const platform = await createPlatform(
  { after },
  {
    way: async (url) => {
      made = await cutDatabase({ after }, url)
      return made
    },
  },
)
assert.ok(made)
const way = made
const { a, call, database } = platform
const variables = `/application/${a.objects.applicationId}/environmentVariable`

/** Sends a request and measures its time. */
async function timed(send: () => ReturnType<typeof call>) {
  const began = now()
  const { status, headers, text } = await send()
  return { status, retryAfter: headers['retry-after'], text, ms: now() - began }
}
const read = () => timed(() => call(a.tokens.READ, 'GET', variables))
let written = 0
const write = () => timed(() => call(a.tokens.ADMIN, 'POST', variables, { key: `KEY_${written++}`, value: 'x' }))
const health = (path: 'live' | 'ready') => timed(() => call(undefined, 'GET', `/health/${path}`))

async function refused(limitMs: number): Promise<void> {
  const answers = await Promise.all([read(), write(), health('ready'), read(), write(), health('ready')])
  for (const { status, retryAfter, text, ms } of answers) {
    assert.deepEqual([status, retryAfter], [503, '1'], text)
    assert.match(text, /The database (cannot be reached|does not answer)/)
    assert.ok(ms < limitMs, `answered after ${ms} ms`)
  }
  const live = await health('live')
  assert.equal(live.status, 200)
  assert.ok(live.ms < 2_000, `answered after ${live.ms} ms`)
}
async function well(): Promise<void> {
  const all = [read, write, () => health('ready')]
  await until('requests and health checks succeed', async () =>
    (await Promise.all(all.map((ask) => ask()))).every(({ status }) => status < 300),
  )
}

for (const [what, begin] of [
  ['that cannot be reached', way.cut],
  ['without free connections', way.fill],
] as const) {
  test(`a database ${what} gives 503 within two seconds, and the server is not ready, until it recovers`, async () => {
    await well()
    begin()
    for (let round = 0; round < 3; round++) await refused(2_000)
    way.join()
    await well()
  })
}

test('a silent database gives 503 to all waiting requests, then within two seconds, until it answers again', async () => {
  await well()
  way.silence()
  // PostgreSQL might only be slow until it has missed enough pings.
  await refused(10_000)
  for (let round = 0; round < 3; round++) await refused(2_000)
  way.join()
  await well()
})

test('a database that fails under load gives 201 or 503 within five seconds and loses no acknowledged write', async () => {
  await well()
  const over = new AbortController()
  const [acknowledged, others]: [string[], string[]] = [[], []]
  let [refusals, slowestMs] = [0, 0]
  const work = async (worker: number): Promise<void> => {
    for (let n = 0; !over.signal.aborted; n++) {
      const key = `LOAD_${worker}_${n}`
      const { status, text, ms } = await timed(() => call(a.tokens.ADMIN, 'POST', variables, { key, value: 'x' }))
      slowestMs = Math.max(slowestMs, ms)
      if (status === 201) acknowledged.push(key)
      else if (status === 503) refusals++
      else others.push(text)
    }
  }
  const workers = [0, 1, 2, 3].map(work)
  for (let round = 0; round < 3; round++) {
    const [before, refused] = [acknowledged.length, refusals]
    await until('writes are acknowledged', () => acknowledged.length > before + 20)
    way.cut()
    await until('writes are refused', () => refusals > refused + 20)
    way.join()
    await well()
  }
  over.abort()
  await Promise.all(workers)
  assert.deepEqual(others, [])
  assert.ok(slowestMs < 5_000, `answered after ${slowestMs} ms`)
  const rows = await database<{ key: string }[]>`select key from variable where key like 'LOAD%'`
  const stored = new Set(rows.map(({ key }) => key))
  assert.equal(stored.size, rows.length)
  assert.deepEqual(
    acknowledged.filter((key) => !stored.has(key)),
    [],
  )
})
