import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { now, until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// PostgreSQL is killed a hundred times and shut down a few times while clients write. No
// acknowledged write is lost.

const ways: readonly NodeJS.Signals[] = [
  ...Array.from({ length: 100 }, () => 'SIGKILL' as const),
  // An immediate and a fast shutdown, in PostgreSQL's words.
  ...Array.from({ length: 5 }, () => ['SIGQUIT', 'SIGINT'] as const).flat(),
]
const { server, application } = await startWebServer({ after })

test('PostgreSQL that ends repeatedly under writers gives 503 with Retry-After and loses no acknowledged write', {
  timeout: 1_800_000,
}, async (t) => {
  const url = `${server.apiUrl.replace('localhost', '127.0.0.1')}/application/${application.id}/environmentVariable`
  const headers = { authorization: `Token ${server.token}`, 'content-type': 'application/json' }
  const acknowledged: string[] = []
  const refused: string[] = []
  const strange: string[] = []
  const over = new AbortController()
  let slowestMs = 0
  const write = async (worker: number): Promise<void> => {
    for (let n = 0; !over.signal.aborted; n++) {
      const key = `KEY_${worker}_${n}`
      const began = now()
      const options = { method: 'POST', headers, body: JSON.stringify({ key, value: key }) }
      const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(60_000) })
      const text = await answer.text()
      slowestMs = Math.max(slowestMs, now() - began)
      if (answer.status === 201) acknowledged.push(key)
      else if (answer.status === 503 && answer.headers.get('retry-after')) refused.push(key)
      else strange.push(`${answer.status} ${text}`)
      await clock.sleep(15)
    }
  }
  const workers = [0, 1, 2, 3].map(write)
  const more = (count: number, limitMs = 60_000) => {
    const from = acknowledged.length
    return until('more writes are acknowledged', () => acknowledged.length >= from + count, { limitMs })
  }
  await more(20)
  const healedMs: number[] = []
  for (const signal of ways) {
    const postmaster = await findPostmaster(join(server.dataDirectory, 'postgresql', 'cluster'))
    assert.ok(postmaster, 'PostgreSQL does not run')
    const before = refused.length
    process.kill(postmaster.pid, signal)
    const began = now()
    await until(`a write is refused after ${signal}`, () => refused.length > before || strange.length > 0)
    await more(1)
    healedMs.push(now() - began)
    await more(10)
    assert.deepEqual(strange, [], signal)
  }
  over.abort()
  await Promise.all(workers)
  const rows = await server.sql<{ key: string }[]>`select key from variable where service_id = ${application.id}`
  const stored = new Set(rows.map(({ key }) => key))
  assert.equal(rows.length, stored.size)
  const lost = acknowledged.filter((key) => !stored.has(key))
  const slowest = Math.max(...healedMs)
  t.diagnostic(
    `${ways.length} ends, ${acknowledged.length} acknowledged, ${lost.length} lost, ${refused.length} refused`,
  )
  t.diagnostic(`slowest answer ${slowestMs.toFixed(0)} ms, slowest recovery ${slowest.toFixed(0)} ms`)
  assert.deepEqual(lost, [])
  const known = new Set([...acknowledged, ...refused])
  assert.deepEqual(
    [...stored].filter((key) => !known.has(key)),
    [],
  )
  // Ten and five seconds where nothing else runs.
  assert.ok(slowest < 30_000 && slowestMs < 15_000, `${slowest} ms, ${slowestMs} ms`)
  assert.equal(server.pid() > 0 && (await server.api('GET', '/organization')).status, 200)
})
