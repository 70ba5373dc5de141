import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'

/** Compiles functions all the time, also while the process ends. */
const busy = `
  import { endProcess } from '${import.meta.resolve('./end-process.ts')}'
  const work = () => {
    for (let round = 0; round < 50; round++) {
      const text = 'let sum = ' + Math.random() + '; for (let i = 0; i < most; i++) sum += i % 7; return sum'
      const add = new Function('most', text)
      for (let call = 0; call < 20; call++) add(500)
    }
    setImmediate(work)
  }
  work()
  setTimeout(() => endProcess(7), 200)`

test('a process that compiles ends with its code', async () => {
  const ends = Array.from({ length: 4 }, () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const args = ['--input-type=module', '--eval', busy]
    execFile(process.execPath, args, { timeout: 60_000 }, (error) => resolve(error && [error.code, error.signal]))
    return promise
  })
  assert.deepEqual(await Promise.all(ends), Array(4).fill([7, null]))
})
