import { BuildError, type Builder } from './builder.ts'

const refuse = async (): Promise<never> => {
  throw new BuildError('failed', 'The cluster is a record: no builder of this installation makes images for it.')
}
const nothing = async (): Promise<undefined> => undefined

/** The builder of a cluster that is only a record. It has no images and builds none. */
export const noBuilder: Builder = {
  find: nothing,
  has: async () => false,
  promote: nothing,
  build: refuse,
  publish: refuse,
  prune: nothing,
}
