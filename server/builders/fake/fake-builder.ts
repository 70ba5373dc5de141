import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract } from 'tar-stream'
import type { Attempt } from '../../lib/attempt.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { imagesByName } from '../bring-images.ts'
import { type BuildOrder, repositoryOf } from '../build-order.ts'
import { BuildError, type Builder, type BuildRecipe, type Image } from '../builder.ts'
import { missingDockerfile } from '../dockerfile-check.ts'
import { createBuilder } from '../recipe-builder.ts'

/** How the fake builds for a service. It prints `lines` first. */
export type FakeBehaviour =
  | { readonly type: 'succeed'; readonly lines?: readonly string[] }
  | { readonly type: 'fail'; readonly lines?: readonly string[]; readonly error?: Error }
  /** Ends only on an abort. */
  | { readonly type: 'hang'; readonly lines?: readonly string[] }

/** A builder in memory: no engine, same rules. It reads the context to its end and runs nothing. */
export interface FakeBuilder extends Builder {
  /** Sets the behaviour until the next call. Builds of other services succeed. */
  tell(service: string, behaviour: FakeBehaviour): void
  /** References of everything built so far, in order. A reused image is not added again. */
  readonly built: readonly string[]
  /** The recipes that were built, in order, including those of failed builds. */
  readonly recipes: readonly BuildRecipe[]
  /** References of the existing images. */
  references(): string[]
}

export function createFakeBuilder(clock: Clock = systemClock): FakeBuilder {
  const images = new Map<string, Image>()
  const hashOf = (tag: string): string | undefined => tag.split(':')[1]
  const behaviours = new Map<string, FakeBehaviour>()
  const built: string[] = []
  const recipes: BuildRecipe[] = []
  const builder = createBuilder(
    {
      find: async (order) => images.get(order.tag),
      has: async ({ reference, digest }) => images.get(reference)?.digest === digest,
      async promote(digest, { tag }) {
        const [found] = [...images].filter(([of, one]) => one.digest === digest && hashOf(of) === hashOf(tag))
        if (!found) return undefined
        images.set(tag, { reference: tag, digest })
        return { reference: tag, digest, builtAt: clock.now() }
      },
      async build(source, order, attempt) {
        recipes.push(order.recipe)
        await readContext(source, order, attempt.signal)
        await behave(behaviours.get(order.recipe.service) ?? { type: 'succeed' }, attempt)
        const digest = `sha256:${createHash('sha256').update(order.tag).digest('hex')}`
        const image = { reference: order.tag, digest }
        images.set(order.tag, image)
        built.push(order.tag)
        return image
      },
      async prune(service, keep) {
        for (const [tag, { digest }] of images) {
          const ours = tag.startsWith(`${repositoryOf(service)}:`)
          if (ours && !keep.includes(tag) && !keep.includes(digest)) images.delete(tag)
        }
      },
    },
    { clock, baseImages: imagesByName },
  )
  return {
    ...builder,
    tell: (service, behaviour) => behaviours.set(service, behaviour),
    built,
    recipes,
    references: () => [...images.keys()],
  }
}

async function readContext(source: Readable, order: BuildOrder, signal: AbortSignal): Promise<void> {
  const names = new Set<string>()
  const reader = extract()
  reader.on('entry', (header, content, next) => {
    names.add(header.name)
    content.on('end', next).resume()
  })
  await pipeline(source, reader, { signal })
  if (!names.has(order.recipe.dockerfile)) throw missingDockerfile(order.recipe)
}

async function behave(behaviour: FakeBehaviour, { signal, output }: Attempt): Promise<void> {
  const lines = behaviour.lines ?? []
  for (const line of lines) output.line(line)
  if (behaviour.type === 'hang' && !signal.aborted) await once(signal, 'abort')
  signal.throwIfAborted()
  if (behaviour.type !== 'fail') return
  const said = lines.map((line) => `\n  ${line}`).join('')
  throw (
    behaviour.error ?? new BuildError('failed', `The build step "fake" failed with exit code 1.\nLast lines:${said}`)
  )
}
