import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../lib/clock.ts'
import { systemClock } from '../../lib/clock.ts'
import { createSlots } from '../../lib/slots.ts'
import { makeInTurn } from './make-in-turn.ts'

/** A clock whose pauses end when the test says so. */
function standing(): { readonly clock: Clock; readonly goOn: () => void } {
  const pause = Promise.withResolvers<void>()
  return { clock: { ...systemClock, sleep: () => pause.promise }, goOn: pause.resolve }
}

const { signal } = new AbortController()
const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('containers are created one after the other, even after a failed one', async () => {
  const host = { making: createSlots(1), clock: standing().clock }
  const begun: string[] = []
  const first = Promise.withResolvers<string>()
  const make = (name: string, made: Promise<string>): Promise<string> =>
    makeInTurn(host, signal, () => {
      begun.push(name)
      return made
    })
  const both = Promise.allSettled([make('a', first.promise), make('b', Promise.resolve('b'))])
  await turnOfTheLoop()
  assert.deepEqual(begun, ['a'])
  first.reject(new Error('no'))
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ['rejected', 'fulfilled'],
  )
  assert.deepEqual(begun, ['a', 'b'])
})

test('a slow creation does not block the next one, and a cancelled caller creates nothing', async () => {
  const { clock, goOn } = standing()
  const host = { making: createSlots(1), clock }
  const long = Promise.withResolvers<string>()
  const first = makeInTurn(host, signal, () => long.promise)
  const end = new AbortController()
  const givenUp = makeInTurn(host, end.signal, async () => assert.fail('it is made'))
  const third = makeInTurn(host, signal, async () => 'third')
  end.abort(new Error('canceled'))
  await assert.rejects(givenUp, { message: 'canceled' })
  goOn()
  assert.equal(await third, 'third')
  long.resolve('first')
  assert.equal(await first, 'first')
})
