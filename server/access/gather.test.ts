import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gather } from './gather.ts'

function recording() {
  const asked: (readonly number[])[] = []
  const ask = gather(async (questions: readonly number[]) => {
    asked.push(questions)
    if (questions.includes(13)) throw new Error('unlucky')
    return questions.map((question) => question * 2)
  })
  return { asked, ask }
}

test('asks all questions of one turn together, and returns each answer to its caller', async () => {
  const { asked, ask } = recording()
  assert.deepEqual(await Promise.all([ask(1), ask(2), ask(3)]), [2, 4, 6])
  assert.equal(await ask(4), 8)
  assert.deepEqual(asked, [[1, 2, 3], [4]])
})

test('keeps what comes while a question is open apart from it', async () => {
  const { asked, ask } = recording()
  const first = ask(1)
  await new Promise((resolve) => setImmediate(resolve))
  const second = ask(2)
  assert.deepEqual(await Promise.all([first, second]), [2, 4])
  assert.deepEqual(asked, [[1], [2]])
})

test('reports an error to all callers of that turn, and to no later one', async () => {
  const { ask } = recording()
  const outcomes = await Promise.allSettled([ask(1), ask(13)])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await ask(1), 2)
})

test('asks at most a hundred questions together', async () => {
  const { asked, ask } = recording()
  await Promise.all(Array.from({ length: 250 }, (_, index) => ask(index + 100)))
  assert.deepEqual(
    asked.map((questions) => questions.length),
    [100, 100, 50],
  )
})
