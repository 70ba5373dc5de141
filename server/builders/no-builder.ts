import { BuildError, type Builder } from './builder.ts'

const nothing = async (): Promise<undefined> => undefined

/** Returns a builder that has no images and builds none, for this reason. */
export function refusingBuilder(reason: string): Builder {
  const refuse = async (): Promise<never> => {
    throw new BuildError('failed', reason)
  }
  return {
    find: nothing,
    has: async () => false,
    promote: nothing,
    build: refuse,
    publish: refuse,
    prune: nothing,
  }
}

/** The builder of a cluster that is only a record. */
export const noBuilder = refusingBuilder(
  'The cluster is a record: no builder of this installation makes images for it.',
)
