import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'node:test'
import { start } from '../lib/run.ts'
import { exclusively, tryLock } from './exclusive.ts'

test('work under one name never overlaps, under two names it can', async () => {
  const name = `test ${process.pid} overlap`
  let inside = 0
  let most = 0
  const work = async (): Promise<void> => {
    inside++
    most = Math.max(most, inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside--
  }
  await Promise.all([1, 2, 3, 4].map(() => exclusively(name, work)))
  assert.equal(most, 1)
  await exclusively(name, () => exclusively(`${name} other`, work))
})

test('the lock of a killed process is free', async () => {
  const name = `test ${process.pid} killed`
  const module = new URL('exclusive.ts', import.meta.url).href
  const code = `const { tryLock } = await import(${JSON.stringify(module)})
    const lock = await tryLock(${JSON.stringify(name)})
    lock.ref()
    console.log('held')`
  const holder = start(process.execPath, ['--input-type=module', '-e', code], {})
  assert.ok(holder.stdout)
  await once(holder.stdout, 'data')
  assert.equal(await tryLock(name), undefined)
  holder.kill('SIGKILL')
  assert.equal(await exclusively(name, async () => 'got it', { signal: AbortSignal.timeout(30_000) }), 'got it')
})

test('waiting for a lock ends with the signal', async () => {
  const name = `test ${process.pid} abort`
  await exclusively(name, async () => {
    const waiting = exclusively(name, async () => {}, { signal: AbortSignal.timeout(50) })
    await assert.rejects(waiting, { name: 'TimeoutError' })
  })
})

test('the lock is released when the work fails', async () => {
  const name = `test ${process.pid} failing`
  await assert.rejects(
    exclusively(name, async () => Promise.reject(new Error('no'))),
    /no/,
  )
  const lock = await tryLock(name)
  assert.ok(lock)
  lock.close()
})
