import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare, median, paired, quantile } from './paired.ts'

test('compare sets each round against the mean of the floors around it', () => {
  const { reads } = compare([10, 30, 10], [{ reads: 10 }, { reads: 40 }])
  assert.deepEqual(reads, { value: 25, floor: 10, ratio: 1.25, quartiles: [0.875, 1.625] })
})

test('paired alternates floor and subject and begins and ends with the floor', async () => {
  const order: string[] = []
  const step = (name: string, value: number) => async () => {
    order.push(name)
    return value
  }
  const subject = step('subject', 3)
  const { a } = await paired(2, step('floor', 2), async () => ({ a: await subject() }))
  assert.deepEqual(order, ['floor', 'subject', 'floor', 'subject', 'floor'])
  assert.equal(a.ratio, 1.5)
})

test('median and quantile interpolate between two values', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 2, 3]), 2.5)
  assert.equal(quantile([0, 10], 0.25), 2.5)
  assert.ok(Number.isNaN(median([])))
})
