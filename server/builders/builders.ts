import { AppError } from '../lib/error.ts'
import type { Roster } from '../lib/roster.ts'
import type { Builder } from './builder.ts'
import { noBuilder } from './no-builder.ts'

/** The part of a cluster that decides which builder makes its images: the name of its engine. */
export interface BuilderPlace {
  /** Null if the cluster is only a record. */
  readonly engine: string | null
}

/** Returns the builder of a cluster. Throws NoBuilderError. */
export type BuilderOf = (place: BuilderPlace) => Builder

/** A builder, and the engine whose clusters it builds for. */
export interface NamedBuilder {
  readonly name: string
  readonly builder: Builder
}

/** Thrown if no builder of this installation builds for a cluster. */
export class NoBuilderError extends AppError {
  constructor({ engine }: BuilderPlace) {
    const message =
      engine === null
        ? 'The cluster is a record: no builder of this installation makes images for it.'
        : `The cluster needs a builder for the engine "${engine}", which this installation does not have.`
    super('conflict', message)
    this.name = 'NoBuilderError'
  }
}

/** The builders of this installation, by the names of their engines. */
export interface Builders {
  readonly builderOf: BuilderOf
}

/** Several engines may share a builder. */
export const createBuilders = (roster: Roster<NamedBuilder>): Builders => ({
  builderOf: (place) => {
    const named = place.engine === null ? undefined : roster.find(place.engine)
    if (!named) throw new NoBuilderError(place)
    return named.builder
  },
})

/** Returns the builder of a cluster, or `noBuilder` if the cluster is only a record. */
export const builderOrNone = (builderOf: BuilderOf, place: BuilderPlace): Builder =>
  place.engine === null ? noBuilder : builderOf(place)
