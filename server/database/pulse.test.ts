import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../lib/clock.ts'
import { createPulse } from './pulse.ts'
import { testDatabase } from './testing.ts'
import { cutDatabase } from './testing-proxy.ts'

test('requests that wait for a frozen PostgreSQL fail within seconds, and later ones at once', async (t) => {
  const { url } = await testDatabase(t)
  const way = await cutDatabase(t, url)
  const pulse = createPulse({ url: way.url })
  t.after(() => pulse.stop())
  assert.equal(await pulse.whileHeard(async () => 'done'), 'done')
  await assert.rejects(
    pulse.whileHeard(() => Promise.reject(new Error('its own'))),
    /its own/,
  )
  way.silence()
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
  way.join()
  await until('it is heard again', () =>
    pulse
      .whileHeard(async () => true)
      .catch((error: unknown) => {
        assert.equal(Object(error).code, 'unavailable')
        return false
      }),
  )
})

test('a PostgreSQL that refuses connections does not count as unresponsive', async (t) => {
  const pulse = createPulse({ url: 'postgres://quayside@127.0.0.1:1/none' })
  t.after(() => pulse.stop())
  assert.equal(await pulse.whileHeard(async () => 'done'), 'done')
})

test('slow work times out, though PostgreSQL answers others', async (t) => {
  const { url } = await testDatabase(t)
  // Seconds pass at once with this clock.
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
