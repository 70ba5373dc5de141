import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { newId } from '../lib/id.ts'
import { openBench } from './testing.ts'

test('a replay sends the same event again, with a new time in its signature', async (t) => {
  const { received, register, happen, pass, list, replay } = await openBench(t)
  const { id, secret } = await register()
  const eventId = await happen('DEPLOYMENT_SUCCESSFUL')
  await pass()
  const [delivery] = await list(id)
  await pass(2_000)
  await replay(id, delivery?.id ?? '')
  await pass()
  assert.deepEqual(
    received.map(({ headers }) => headers['webhook-id']),
    [eventId, eventId],
  )
  const [first, second] = received
  assert.equal(first?.body, second?.body)
  assert.notEqual(first?.headers['webhook-signature'], second?.headers['webhook-signature'])
  new Webhook(secret).verify(second?.body ?? '', Object(second?.headers))
  assert.deepEqual(
    (await list(id)).map(({ state, is_replay }) => [state, is_replay]),
    [
      ['delivered', true],
      ['delivered', false],
    ],
  )
})

test('a replay that fails is not retried, so that later events do not wait for it', async (t) => {
  const { received, replies, register, happen, pass, list, replay } = await openBench(t)
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  await pass()
  const [delivery] = await list(id)
  await replay(id, delivery?.id ?? '')
  await happen('DEPLOYMENT_SUCCESSFUL')
  replies.push({ status: 500 })
  await pass()
  await pass(1_000)
  assert.equal(received.length, 3)
  const replayed = (await list(id)).find(({ is_replay }) => is_replay)
  assert.deepEqual([replayed?.state, replayed?.attempts], ['failed', 1])
})

test('an event that is still being delivered is not replayed', async (t) => {
  const { replies, register, happen, pass, list, replay } = await openBench(t)
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  replies.push({ status: 500 })
  await pass()
  const [delivery] = await list(id)
  assert.equal(delivery?.state, 'pending')
  await assert.rejects(replay(id, delivery?.id ?? ''), /still being delivered/)
})

test('a disabled webhook, and a delivery of another webhook, are not replayed', async (t) => {
  const { register, happen, pass, list, replay, edit } = await openBench(t)
  const { id } = await register()
  const other = await register()
  await happen('DEPLOYMENT_STARTED')
  await pass()
  await pass()
  const [delivery] = await list(id)
  await assert.rejects(replay(other.id, delivery?.id ?? ''), /delivery .* does not exist/)
  await assert.rejects(replay(newId(), delivery?.id ?? ''), /webhook .* does not exist/)
  await edit(id, { enabled: false })
  await assert.rejects(replay(id, delivery?.id ?? ''), /disabled/)
})

test('two replays at the same time send the event once', async (t) => {
  const { received, register, happen, pass, list, replay } = await openBench(t)
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  await pass()
  const [delivery] = await list(id)
  const tries = await Promise.allSettled([replay(id, delivery?.id ?? ''), replay(id, delivery?.id ?? '')])
  assert.deepEqual(tries.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await pass()
  assert.equal(received.length, 2)
})

test('a webhook replays at most ten deliveries within a minute', async (t) => {
  const { register, happen, pass, list, replay } = await openBench(t)
  const { id } = await register()
  await happen('DEPLOYMENT_STARTED')
  await pass()
  const [delivery] = await list(id)
  for (let count = 0; count < 10; count++) {
    await replay(id, delivery?.id ?? '')
    await pass()
  }
  await assert.rejects(replay(id, delivery?.id ?? ''), /at most 10/)
  await pass(61_000)
  await replay(id, delivery?.id ?? '')
})
