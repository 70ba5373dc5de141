import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { openBench } from './testing.ts'

test('an event reaches every interested webhook once, signed as the standard says', async (t) => {
  const { received, register, happen, pass, deliveries } = await openBench(t)
  const { secret } = await register()
  await register({ enabled: false })
  await register({ events: ['DEPLOYMENT_FAILED'] })
  await register({ project_names_filter: ['other*'] })
  await register({ environment_types_filter: ['STAGING'] })
  const id = await happen('DEPLOYMENT_SUCCESSFUL')
  await pass()
  await pass(60_000)
  assert.equal(received.length, 1)
  const [only] = received
  assert.equal(only?.headers['webhook-id'], id)
  assert.equal(only?.headers['content-type'], 'application/json')
  const told = new Webhook(secret).verify(only?.body ?? '', Object(only?.headers))
  // In the spelling that was registered.
  assert.equal(Object(told).event_type, 'DEPLOYMENT_SUCCEEDED')
  assert.equal(Object(told).payload_type, 'DEPLOYMENT')
  assert.equal(Object(told).payload.project.name, 'Shop')
  assert.deepEqual(
    (await deliveries()).map(({ state, attempts }) => [state, attempts]),
    [['delivered', 1]],
  )
})

test('the receiver’s own secret signs, and is sent unchanged', async (t) => {
  const { received, register, happen, pass } = await openBench(t)
  await register({ target_secret: 'my-own-secret' })
  await happen('DEPLOYMENT_STARTED')
  await pass()
  const headers = Object(received[0]?.headers)
  assert.equal(headers['qovery-signature'], 'my-own-secret')
  assert.equal(headers['qovery-secret'], 'my-own-secret')
  new Webhook('my-own-secret', { format: 'raw' }).verify(received[0]?.body ?? '', headers)
})

test('a Slack-compatible receiver gets a text', async (t) => {
  const { received, register, happen, pass } = await openBench(t)
  await register({ kind: 'SLACK' })
  await happen('DEPLOYMENT_STARTED', { applications: [{ name: 'web' }], logs: ['web: no'] })
  await pass()
  assert.deepEqual(JSON.parse(received[0]?.body ?? ''), { text: 'DEPLOYMENT_STARTED: web in Shop / prod\nweb: no' })
})

test('a failure is retried on schedule, under the same id, until the last retry', async (t) => {
  const { received, replies, register, happen, pass, deliveries } = await openBench(t)
  await register()
  await happen('DEPLOYMENT_STARTED')
  replies.push(...Array(20).fill({ status: 500, body: 'SECRET-ANSWER' }))
  const minute = 60_000
  const hour = 60 * minute
  await pass()
  for (const waitMs of [5000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]) {
    const [delivery] = await deliveries()
    assert.equal(delivery?.failure, 'The receiver answered 500.')
    assert.equal(delivery?.waitMs, waitMs)
    const before = received.length
    await pass(waitMs - 1)
    assert.equal(received.length, before, 'nothing is sent before its time')
    await pass(1)
  }
  const [last] = await deliveries()
  assert.deepEqual([last?.state, last?.attempts], ['failed', 8])
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  await pass(100 * hour)
  assert.equal(received.length, 8)
})

test('a delivery whose answer was lost is repeated under the same id, and only once', async (t) => {
  const { received, replies, register, happen, pass, deliveries } = await openBench(t)
  await register()
  const id = await happen('DEPLOYMENT_STARTED')
  replies.push('lost')
  await pass()
  assert.equal((await deliveries())[0]?.state, 'pending')
  await pass(5001)
  await pass(3_600_000)
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    [id, id],
  )
  assert.equal(received[0]?.body, received[1]?.body)
})

test('events arrive in order: later ones wait for a failed one', async (t) => {
  const { received, replies, register, happen, pass } = await openBench(t)
  await register()
  const first = await happen('DEPLOYMENT_STARTED')
  const second = await happen('DEPLOYMENT_SUCCESSFUL')
  replies.push({ status: 503 })
  await pass()
  await pass()
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    [first],
  )
  await pass(5001)
  await pass()
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    [first, first, second],
  )
})

test('any 2xx acknowledges; a redirect does not, and is not followed', async (t) => {
  const { received, replies, url, register, happen, pass, deliveries } = await openBench(t)
  await register()
  const statuses = [200, 202, 299, 301, 307]
  replies.push(...statuses.map((status) => ({ status, headers: status > 299 ? { location: `${url}/other` } : {} })))
  for (const _ of statuses) {
    await happen('DEPLOYMENT_STARTED')
    await pass()
  }
  assert.deepEqual(
    (await deliveries()).map(({ state }) => state),
    ['delivered', 'delivered', 'delivered', 'pending', 'pending'],
  )
  assert.equal(received.length, 4)
})

test('429 delays the next try as requested, up to a day', async (t) => {
  const { replies, register, happen, pass, deliveries } = await openBench(t)
  await register()
  await happen('DEPLOYMENT_STARTED')
  replies.push(
    { status: 429, headers: { 'retry-after': '600' } },
    { status: 429, headers: { 'retry-after': '9999999' } },
  )
  await pass()
  assert.equal((await deliveries())[0]?.waitMs, 600_000)
  await pass(600_000)
  assert.equal((await deliveries())[0]?.waitMs, 24 * 3_600_000)
})

test('410 disables the webhook and cancels its pending deliveries', async (t) => {
  const { sql, received, replies, register, happen, pass, deliveries } = await openBench(t)
  await register()
  for (let count = 0; count < 3; count++) await happen('DEPLOYMENT_STARTED')
  replies.push({ status: 410 })
  await pass()
  assert.deepEqual([...(await sql`select enabled from webhook`)], [{ enabled: false }])
  assert.deepEqual(
    (await deliveries()).map(({ state }) => state),
    ['failed', 'failed', 'failed'],
  )
  await pass(100 * 3_600_000)
  assert.equal(received.length, 1)
})

test('a webhook is disabled after five days of failures', async (t) => {
  const { sql, replies, register, happen, pass } = await openBench(t)
  await register()
  replies.push(...Array(40).fill({ status: 500 }))
  for (let day = 0; day <= 6; day++) {
    await happen('DEPLOYMENT_STARTED')
    for (let hour = 0; hour < 24; hour += 6) await pass(6 * 3_600_000)
  }
  assert.deepEqual([...(await sql`select enabled from webhook`)], [{ enabled: false }])
})

test('J12: nothing is sent after the webhook was disabled or removed', async (t) => {
  const { received, replies, register, edit, happen, pass, deliveries } = await openBench(t)
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  replies.push({ status: 500 })
  await pass()
  await edit(id, { enabled: false })
  await edit(id, { enabled: true })
  await pass(3_600_000)
  assert.equal(received.length, 1)
  assert.equal((await deliveries())[0]?.state, 'failed')
})

test('J5: an endless body is cut off and not stored', async (t) => {
  const { sql, replies, register, happen, pass } = await openBench(t)
  await register()
  await happen('DEPLOYMENT_STARTED')
  replies.push({ status: 200, body: 'SECRET-ANSWER'.repeat(100_000) })
  await pass()
  const rows = await sql`select d::text from webhook_delivery d`
  assert.ok(!JSON.stringify(rows).includes('SECRET-ANSWER'))
  assert.deepEqual([...(await sql`select state from webhook_delivery`)], [{ state: 'delivered' }])
})

test('J2: an address that must not be contacted fails without a connection', async (t) => {
  const { sql, received, register, happen, pass, deliveries } = await openBench(t)
  const { id } = await register()
  await sql`update webhook set target_url = 'http://10.0.0.1/x' where id = ${id}`
  await happen('DEPLOYMENT_STARTED')
  await pass()
  assert.match((await deliveries())[0]?.failure ?? '', /not public/)
  assert.equal(received.length, 0)
})

test('a delivery shows the first KiB of the receiver’s answer, or the connection error', async (t) => {
  const { replies, register, happen, pass, bodies } = await openBench(t, { isPrivate: false })
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  assert.deepEqual(await bodies(id), [])
  replies.push({ status: 500, body: 'broken\0' }, 'lost', { status: 200, body: 'x'.repeat(100_000) })
  await pass()
  assert.deepEqual(await bodies(id), ['broken\ufffd'])
  await pass(5001)
  assert.match((await bodies(id))[0] ?? '', /cannot be reached or does not answer properly/)
  await pass(301_000)
  assert.deepEqual(await bodies(id), ['x'.repeat(1024)])
})

test('a delivery never shows the secret that its receiver sends back', async (t) => {
  const { sql, replies, register, happen, pass, bodies } = await openBench(t, { isPrivate: false })
  const { id } = await register({ target_secret: 'my-own-secret' })
  await happen('DEPLOYMENT_STARTED')
  replies.push({ status: 200, body: '{"headers":{"qovery-secret":"my-own-secret"}}' })
  await pass()
  assert.deepEqual(await bodies(id), ['{"headers":{"qovery-secret":"******"}}'])
  assert.ok(!JSON.stringify(await sql`select d::text from webhook_delivery d`).includes('my-own-secret'))
})

test('the answer of a receiver in a private network is neither stored nor shown', async (t) => {
  const { sql, replies, register, happen, pass, bodies } = await openBench(t)
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  replies.push({ status: 200, body: 'SECRET-ANSWER' })
  await pass()
  assert.match((await bodies(id))[0] ?? '', /^The receiver is in a private network/)
  assert.ok(!JSON.stringify(await sql`select d::text from webhook_delivery d`).includes('SECRET-ANSWER'))
})
