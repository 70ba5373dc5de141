import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startNameServer } from '../../test/support/name-server.ts'
import { createNameServers } from './resolve.ts'

const inTime = () => AbortSignal.timeout(20_000)

test('names without an answer in time are reported as failures, not as absent', async () => {
  const signal = AbortSignal.abort(new Error('late'))
  const servers = createNameServers()
  const [found] = await servers.resolve(['example.invalid'], signal)
  assert.deepEqual(found, { addresses: [], failure: 'DNS did not answer in time.' })
  await assert.rejects(servers.records('TXT', 'example.invalid', signal))
})

test('records come from the name servers that are set, absent ones as none', async (t) => {
  const server = await startNameServer(t)
  const { resolve, records } = createNameServers([server.address])
  server.zones.set('a.example', { A: '192.0.2.1', TXT: ['one', 'x'.repeat(400)] })
  server.zones.set('b.example', { CNAME: 'A.Example' })
  assert.deepEqual(await resolve(['a.example', 'b.example', 'c.example'], inTime()), [
    { addresses: ['192.0.2.1'] },
    { addresses: [], alias: 'a.example' },
    { addresses: [] },
  ])
  assert.deepEqual((await records('TXT', 'a.example', inTime())).toSorted(), ['one', 'x'.repeat(400)])
  assert.deepEqual(await records('CNAME', 'b.example', inTime()), ['a.example'])
  assert.deepEqual(await records('TXT', 'c.example', inTime()), [])
  assert.deepEqual(await records('CNAME', `${'a'.repeat(64)}.example`, inTime()), [])
})

test('texts are left out when they are too long', async (t) => {
  const server = await startNameServer(t)
  const { records } = createNameServers([server.address])
  server.zones.set('a.example', { TXT: ['y'.repeat(600), 'short'] })
  assert.deepEqual(await records('TXT', 'a.example', inTime()), ['short'])
})

test('a query ends with the signal when the server never answers', async (t) => {
  const server = await startNameServer(t)
  server.zones.set('a.example', { silent: true })
  const { resolve, records } = createNameServers([server.address])
  const abort = new AbortController()
  const [found] = await Promise.all([
    resolve(['a.example'], abort.signal),
    assert.rejects(records('TXT', 'a.example', abort.signal)),
    (async () => {
      while (server.asked.length < 4) await new Promise((resume) => setImmediate(resume))
      abort.abort(new Error('late'))
    })(),
  ])
  assert.deepEqual(found, [{ addresses: [], failure: 'DNS did not answer in time.' }])
})
