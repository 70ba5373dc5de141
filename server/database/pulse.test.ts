import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../lib/clock.ts'
import { createPulse } from './pulse.ts'
import { type Cleanup, testDatabase } from './testing.ts'

/** A way to the database that swallows everything while it is held. */
async function swallowing(t: Cleanup, url: string) {
  const target = new URL(url)
  const path = `${target.searchParams.get('host')}/.s.PGSQL.5432`
  const sockets = new Set<Socket>()
  let held = false
  const server = createServer((near) => {
    const far = connect({ path })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => [near, far].map((one) => one.destroy()))
      if (held) socket.pause()
    }
    near.on('data', (chunk) => far.write(chunk))
    far.on('data', (chunk) => near.write(chunk))
    if (held) for (const socket of [near, far]) socket.pause()
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => void server.close(done))
  })
  const address = server.address()
  target.searchParams.delete('host')
  target.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  const hold = (is: boolean): void => {
    held = is
    for (const socket of sockets) is ? socket.pause() : socket.resume()
  }
  return { url: target.href, hold }
}

test('what waits for a PostgreSQL that stands still is told within seconds, and what comes meanwhile at once', async (t) => {
  const { url } = await testDatabase(t)
  const way = await swallowing(t, url)
  const pulse = createPulse({ url: way.url })
  t.after(() => pulse.stop())
  assert.equal(await pulse.whileHeard(async () => 'done'), 'done')
  await assert.rejects(
    pulse.whileHeard(() => Promise.reject(new Error('its own'))),
    /its own/,
  )
  way.hold(true)
  const never = new Promise<never>(() => {})
  const unavailable = { code: 'unavailable', message: /does not answer/ }
  await assert.rejects(
    pulse.whileHeard(() => never),
    unavailable,
  )
  let begun = 0
  await assert.rejects(
    pulse.whileHeard(async () => begun++),
    unavailable,
  )
  assert.equal(begun, 0)
  way.hold(false)
  await until('it is heard again', () =>
    pulse
      .whileHeard(async () => true)
      .catch((error: unknown) => {
        assert.equal(Object(error).code, 'unavailable')
        return false
      }),
  )
})

test('a PostgreSQL that refuses connections is not taken for deaf', async (t) => {
  const pulse = createPulse({ url: 'postgres://quayside@127.0.0.1:1/none' })
  t.after(() => pulse.stop())
  assert.equal(await pulse.whileHeard(async () => 'done'), 'done')
})

test('what takes too long is given up, though PostgreSQL answers others', async (t) => {
  const { url } = await testDatabase(t)
  // Seconds pass at once.
  const sleep = (ms: number, signal?: AbortSignal) => systemClock.sleep(ms === 1000 ? 5 : ms, signal)
  const pulse = createPulse({ url, clock: { ...systemClock, sleep } })
  t.after(() => pulse.stop())
  const slow = { code: 'unavailable', message: /did not answer within 20 s/ }
  await assert.rejects(
    pulse.whileHeard(() => new Promise<never>(() => {})),
    slow,
  )
  assert.equal(await pulse.whileHeard(async () => 'done'), 'done')
})
