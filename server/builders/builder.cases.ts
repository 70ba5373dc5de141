import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { pack } from 'tar-stream'
import type { Attempt } from '../lib/attempt.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { BuildError, type Builder, type BuildRecipe } from './builder.ts'

/** What a build of the suite should do. Each builder has its own way to make a build do it. */
export type BuildKind =
  | { readonly does: 'succeed'; readonly prints: readonly string[] }
  | { readonly does: 'fail'; readonly prints: readonly string[] }
  | { readonly does: 'hang'; readonly prints: readonly string[] }

export interface BuilderSubject {
  readonly builder: Builder
  /** Returns a Dockerfile that makes the builder do this for the service. */
  dockerfile(service: string, kind: BuildKind): string
}

/** The rules that every builder follows. */
export function builderCases(name: string, subject: () => BuilderSubject): void {
  const services: string[] = []
  const signal = AbortSignal.timeout(100_000)
  const make = (kind: BuildKind, change: Partial<BuildRecipe> = {}): BuildRecipe => {
    const service = change.service ?? newId()
    services.push(service)
    return recipeOf(service, subject().dockerfile(service, kind), change)
  }
  const good: BuildKind = { does: 'succeed', prints: ['it works'] }

  describe(`${name} builder`, () => {
    after(async () => {
      for (const service of services) await subject().builder.prune(service, [], AbortSignal.timeout(60_000))
    })

    test('build makes an image that find returns for its recipe', async () => {
      const { builder } = subject()
      const recipe = make(good)
      assert.equal(await builder.find(recipe, signal), undefined)
      const { attempt, lines } = recording()
      const image = await builder.build(contextOf(recipe), recipe, attempt)
      assert.match(image.reference, new RegExp(`^quayside/${recipe.service}:[0-9a-f]{40}$`))
      assert.match(image.digest, /^sha256:[0-9a-f]{64}$/)
      assert.deepEqual(await builder.find(recipe, signal), image)
      assert.equal(await builder.has(image, signal), true)
      assert.equal(await builder.has({ ...image, digest: `sha256:${'0'.repeat(64)}` }, signal), false)
      assert.equal(await builder.has({ ...image, reference: `${image.reference}0` }, signal), false)
      assert.ok(lines.includes('it works'), lines.join('\n'))
      assert.equal(await builder.publish(image, recipe.service, attempt), image.reference)
    })

    test('build runs once for a recipe, also when several callers ask at the same time', async () => {
      const { builder } = subject()
      const recipe = make(good)
      let opened = 0
      const source = (): Promise<Readable> => {
        opened++
        return contextOf(recipe)()
      }
      const build = () => builder.build(source, recipe, recording().attempt)
      const images = await Promise.all([build(), build(), build()])
      images.push(await build())
      assert.equal(opened, 1)
      assert.equal(new Set(images.map((image) => JSON.stringify(image))).size, 1)
    })

    test('build makes another image for another commit', async () => {
      const { builder } = subject()
      const recipe = make(good)
      const first = await builder.build(contextOf(recipe), recipe, recording().attempt)
      const other = { ...recipe, commit: 'b'.repeat(40) }
      const second = await builder.build(contextOf(other), other, recording().attempt)
      assert.notEqual(first.reference, second.reference)
    })

    test('promote gives an image to another service, which keeps it when the first service’s images are pruned', async () => {
      const { builder } = subject()
      const recipe = make(good)
      const image = await builder.build(contextOf(recipe), recipe, recording().attempt)
      const other = { ...recipe, service: newId() }
      services.push(other.service)
      assert.equal(await builder.promote(`sha256:${'0'.repeat(64)}`, other, signal), undefined)
      assert.equal(await builder.promote(image.digest, { ...other, commit: 'c'.repeat(40) }, signal), undefined)
      const promoted = await builder.promote(image.digest, other, signal)
      assert.equal(promoted?.digest, image.digest)
      assert.ok(Math.abs(Date.now() - (promoted?.builtAt.getTime() ?? 0)) < 600_000)
      const { reference } = promoted
      assert.match(reference, new RegExp(`^quayside/${other.service}:[0-9a-f]{40}$`))
      await builder.prune(other.service, [reference], signal)
      await builder.prune(recipe.service, [], signal)
      assert.equal(await builder.find(recipe, signal), undefined)
      assert.deepEqual(await builder.find(other, signal), { reference, digest: image.digest })
      await builder.prune(other.service, [], signal)
      assert.equal(await builder.find(other, signal), undefined)
    })

    test('build reports what failed, with the last lines of output', async () => {
      const recipe = make({ does: 'fail', prints: ['looking', 'it is broken'] })
      const { attempt, lines } = recording()
      const error = await failureOf(subject().builder.build(contextOf(recipe), recipe, attempt))
      assert.equal(error.reason, 'failed')
      assert.match(error.message, /step ".+" failed with exit code \d+/)
      assert.match(error.message, /looking\n {2}it is broken/)
      assert.ok(lines.includes('it is broken'))
      assert.equal(await subject().builder.find(recipe, signal), undefined)
    })

    test('build names the path of a missing Dockerfile', async () => {
      const recipe = make(good, { rootPath: 'apps/web', dockerfile: 'docker/Dockerfile' })
      const error = await failureOf(subject().builder.build(tarOf({ 'a.txt': 'a' }), recipe, recording().attempt))
      assert.equal(error.reason, 'dockerfile')
      assert.match(error.message, /no Dockerfile at "apps\/web\/docker\/Dockerfile" in commit aaaaaaaaaaaa/)
    })

    test('build rejects a foreign frontend and remote sources without opening the context', async () => {
      const attacks = [
        ['# syntax=attacker/frontend\nFROM scratch\n', 'frontend'],
        ['FROM scratch\nADD http://169.254.169.254/latest /x\n', 'dockerfile'],
        ['# nothing to build\n', 'dockerfile'],
      ] as const
      for (const [dockerfileText, reason] of attacks) {
        const recipe: BuildRecipe = { ...make(good), dockerfileText }
        const source = (): Promise<never> => assert.fail('the context was opened')
        assert.equal((await failureOf(subject().builder.build(source, recipe, recording().attempt))).reason, reason)
      }
    })

    test('build shows lines while it runs, and ends with the reason of an abort', async () => {
      const recipe = make({ does: 'hang', prints: ['begun'] })
      const stop = new AbortController()
      const { attempt, line } = recording(stop.signal)
      const building = subject().builder.build(contextOf(recipe), recipe, attempt)
      building.catch(() => {})
      await line('begun')
      const startedAt = systemClock.monotonic()
      const reason = new Error('canceled by the user')
      stop.abort(reason)
      await assert.rejects(building, (error) => error === reason)
      assert.ok(systemClock.monotonic() - startedAt < 20_000, 'ended at once')
      assert.equal(await subject().builder.find(recipe, signal), undefined)
    })

    test('build runs for a waiting caller when the build it waited for is aborted', async () => {
      const recipe = make({ does: 'hang', prints: ['begun'] })
      const stop = new AbortController()
      const first = recording(stop.signal)
      const aborted = subject().builder.build(contextOf(recipe), recipe, first.attempt)
      aborted.catch(() => {})
      await first.line('begun')
      const secondStop = new AbortController()
      const second = recording(secondStop.signal)
      const waiting = subject().builder.build(contextOf(recipe), recipe, second.attempt)
      waiting.catch(() => {})
      await second.line('The same image is already being built. Waiting for it.')
      stop.abort(new Error('first stopped'))
      await second.line('begun')
      secondStop.abort(new Error('second stopped'))
      await assert.rejects(waiting, /second stopped/)
      await assert.rejects(aborted, /first stopped/)
    })

    test('build stops when it takes too long', async () => {
      const recipe = make({ does: 'hang', prints: [] }, { limits: { ...limits, timeoutSeconds: 1 } })
      const error = await failureOf(subject().builder.build(contextOf(recipe), recipe, recording().attempt))
      assert.equal(error.reason, 'timeout')
      assert.match(error.message, /did not end within 1 s/)
    })

    test('build cuts the log once at its limit and continues', async () => {
      const prints = Array.from({ length: 200 }, (_, number) => `line ${number}`)
      const recipe = make({ does: 'succeed', prints }, { limits: { ...limits, maxLogBytes: 1000 } })
      const { attempt, lines } = recording()
      await subject().builder.build(contextOf(recipe), recipe, attempt)
      assert.equal(lines.filter((line) => line.startsWith('[log cut at 1 kB')).length, 1)
      assert.ok(lines.join('\n').length < 1200)
    })

    test('build fails with the error of a source that ends early', async () => {
      const recipe = make(good)
      const broken = new Error('the repository went away')
      const source = async (): Promise<Readable> =>
        Readable.from(
          (async function* () {
            yield Buffer.alloc(512)
            throw broken
          })(),
        )
      await assert.rejects(subject().builder.build(source, recipe, recording().attempt), (error) => error === broken)
    })

    test('prune removes the images of one service except those to keep', async () => {
      const { builder } = subject()
      const kept = make(good)
      const old = make(good, { service: kept.service, commit: 'c'.repeat(40) })
      const foreign = make(good)
      for (const recipe of [kept, old, foreign]) await builder.build(contextOf(recipe), recipe, recording().attempt)
      const keep = (await builder.find(kept, signal))?.reference ?? ''
      await builder.prune(kept.service, [keep], signal)
      assert.equal((await builder.find(kept, signal))?.reference, keep)
      assert.equal(await builder.find(old, signal), undefined)
      assert.notEqual(await builder.find(foreign, signal), undefined)
    })
  })
}

export const limits: BuildRecipe['limits'] = {
  cpuMilli: 1000,
  memoryMiB: 512,
  timeoutSeconds: 60,
  maxLogBytes: 1_000_000,
}

/** Returns a recipe for tests with a value for everything; `change` overrides parts of it. */
export const recipeOf = (service: string, dockerfileText: string, change: Partial<BuildRecipe> = {}): BuildRecipe => ({
  service,
  commit: 'a'.repeat(40),
  rootPath: '',
  dockerfile: 'Dockerfile',
  dockerfileText,
  variables: {},
  limits,
  ...change,
})

export const contextOf = (recipe: BuildRecipe): (() => Promise<Readable>) =>
  tarOf({ [recipe.dockerfile]: recipe.dockerfileText })

export function tarOf(files: Readonly<Record<string, string | Buffer>>): () => Promise<Readable> {
  return async () => {
    const tar = pack()
    for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
    tar.finalize()
    return Readable.from(tar, { objectMode: false })
  }
}

/** Returns an attempt that keeps its lines. `line` waits until a given line is printed. */
export function recording(signal: AbortSignal = AbortSignal.timeout(60_000)) {
  const lines: string[] = []
  const waiting = new Map<string, () => void>()
  const attempt: Attempt = {
    signal,
    output: {
      line(text) {
        lines.push(text)
        waiting.get(text)?.()
      },
    },
  }
  const line = async (text: string): Promise<void> => {
    if (lines.includes(text)) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.set(text, resolve)
    AbortSignal.timeout(60_000).addEventListener('abort', () =>
      reject(new Error(`"${text}" was not printed; there was:\n${lines.join('\n')}`)),
    )
    await promise
  }
  return { attempt, lines, line }
}

export async function failureOf(building: Promise<unknown>): Promise<BuildError> {
  const error = await building.then(
    () => assert.fail('the build succeeded'),
    (thrown: unknown) => thrown,
  )
  if (error instanceof BuildError) return error
  throw error
}
