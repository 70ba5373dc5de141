import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../lib/clock.ts'
import { createSlots } from '../lib/slots.ts'
import type { Step } from '../workflows/index.ts'
import type { Work } from './recipe.ts'
import { inTurn, startInTurn } from './turn.ts'

const { signal } = new AbortController()
const begun: Step = (_name, work) => work({ signal })
/** As after a restart: a recorded step is not run again and returns nothing. */
const recorded: Step = async () => Object(undefined)

/** The members of a service's work that `inTurn` reads. */
const workOf = (organizationId: string, step: Step): Work =>
  // The other members are not read.
  ({
    ...{ organizationId, step, context: { signal }, target: { service_id: 'service' } },
    report: { line: () => {} },
  }) as unknown as Work

for (const [when, step] of [
  ['while it waits', begun],
  ['whose wait was recorded before the server ended', recorded],
] as const) {
  test(`a hundred services of one organization delay that of another ${when} by at most one turn`, async () => {
    const turn = { slots: createSlots(1), name: 'BUILD_QUEUEING' } as const
    const order: string[] = []
    const last = Promise.withResolvers<void>()
    const work = (organization: string) =>
      inTurn(workOf(organization, step), turn, async () => void order.push(organization))
    const first = inTurn(workOf('a', step), turn, () => last.promise)
    const waiting = [...Array.from({ length: 100 }, () => work('a')), work('b')]
    last.resolve()
    await Promise.all([first, ...waiting])
    assert.deepEqual(order.slice(0, 3), ['a', 'b', 'a'])
    assert.equal(order.length, 101)
  })
}

test('a start that takes longer than ten minutes leaves its slot to the next one', async () => {
  const waits: { readonly ms: number; readonly end: () => void }[] = []
  const clock: Clock = {
    ...systemClock,
    sleep: (ms) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waits.push({ ms, end: resolve })
      return promise
    },
  }
  const slots = { deployments: createSlots(1) }
  const long = Promise.withResolvers<void>()
  const first = startInTurn({ clock, slots }, workOf('a', begun), () => long.promise)
  const second = startInTurn({ clock, slots }, workOf('b', begun), async () => 'second')
  await new Promise(setImmediate)
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [600_000],
  )
  waits[0]?.end()
  assert.equal(await second, 'second')
  long.resolve()
  await first
  const slot = slots.deployments.takeNow('a')
  assert.ok(slot)
  assert.equal(slots.deployments.takeNow('a'), undefined)
})
