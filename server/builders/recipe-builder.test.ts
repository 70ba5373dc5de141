import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressError, createAddressGuard } from '../lib/address.ts'
import { imagesByName as baseImages } from './bring-images.ts'
import { contextOf, recipeOf, recording } from './builder.cases.ts'
import { BuildError } from './builder.ts'
import { type BuildBackend, createBuilder } from './recipe-builder.ts'

const never = <T>(): Promise<T> => Promise.withResolvers<T>().promise
const recipe = recipeOf('1234', 'FROM scratch\n')
const image = { reference: 'r', digest: 'd' }

const backendWith = (change: Partial<BuildBackend>): BuildBackend => ({
  find: async () => undefined,
  has: async () => false,
  promote: async () => undefined,
  build: async () => image,
  prune: async () => {},
  ...change,
})

test('build ends on an abort when the engine never answers', async () => {
  const stuck = createBuilder(backendWith({ find: never, prune: never }), { baseImages })
  const stop = new AbortController()
  const calls = [
    stuck.find(recipe, stop.signal),
    stuck.prune('1234', [], stop.signal),
    stuck.build(contextOf(recipe), recipe, recording(stop.signal).attempt),
  ]
  stop.abort(new Error('gave up'))
  for (const call of calls) await assert.rejects(call, /gave up/)
})

test('build counts a source that never opens against its timeout', async () => {
  const builder = createBuilder(backendWith({}), {
    baseImages,
    clock: { now: () => new Date(0), monotonic: () => 0, sleep: async (ms) => assert.equal(ms, 60_000) },
  })
  await assert.rejects(builder.build(never, recipe, recording().attempt), /did not end within 60 s/)
})

test('build contacts no private registry, and leaves unresolved hosts to the engine', async () => {
  const resolve = async (host: string) => {
    if (host === 'unknown.example') throw new AddressError('unresolved', 'unknown')
    return [host === 'inside.example' ? '10.1.2.3' : '93.184.216.34']
  }
  const guard = createAddressGuard({ allowedPrivateCidrs: [], resolve })
  const builder = createBuilder(backendWith({}), { guard, baseImages })
  const build = (base: string) => {
    const own = recipeOf('1234', `FROM ${base}\n`)
    return builder.build(contextOf(own), own, recording().attempt)
  }
  for (const base of ['127.0.0.1:5000/x', 'localhost:5000/x', '169.254.169.254/x', 'inside.example/x:1']) {
    await assert.rejects(build(base), /line 1: the image ".+" must not be fetched: /, base)
  }
  for (const base of ['node:24', 'unknown.example/x', 'outside.example:8443/x'])
    assert.deepEqual(await build(base), image)
})

test('build reports its own failure when releasing its images fails too', async () => {
  const release = () => Promise.reject(new Error('the engine is gone'))
  const failing = { bring: async (image: string) => ({ reference: image, onBuild: [], release }) }
  const gone = new BuildError('unreachable', 'The engine cannot be reached.')
  const builder = createBuilder(backendWith({ build: () => Promise.reject(gone) }), { baseImages: failing })
  const own = recipeOf('1234', 'FROM node:24\n')
  await assert.rejects(
    builder.build(contextOf(own), own, recording().attempt),
    (error) => error instanceof BuildError && error.reason === 'unreachable',
  )
})

test('build closes the source when it succeeds or fails', async () => {
  for (const build of [async () => image, async () => assert.fail('broken')]) {
    const source = await contextOf(recipe)()
    const builder = createBuilder(backendWith({ build }), { baseImages })
    await builder.build(async () => source, recipe, recording().attempt).catch(() => {})
    assert.ok(source.destroyed)
  }
})
