import { AppError } from '../lib/error.ts'
import type { Each, Roster } from '../lib/roster.ts'
import type { Engine, EngineCapabilities, EngineCapacity } from './engine.ts'
import { noEngine } from './no-engine.ts'

/** The part of a cluster that decides which engine runs its workloads. */
export interface EnginePlace {
  /** The name of its engine; null if the cluster is only a record. */
  readonly engine: string | null
}

/** Returns the engine of a cluster, in the roles that the caller uses. Throws NoEngineError. */
export type EngineOf<Role = Engine> = (place: EnginePlace) => Role

/** Returns what the engine of a cluster can do; undefined if it has none. */
export type CapabilitiesOf = (place: EnginePlace) => EngineCapabilities | undefined

/** An engine, and the name by which clusters refer to it. */
export interface NamedEngine<Role = Engine> {
  readonly name: string
  readonly engine: Role
}

/** The engine of this machine. Built-in clusters refer to it. */
export const localEngine = 'local'

/** Thrown for a cluster whose workloads no engine of this installation runs. */
export class NoEngineError extends AppError {
  constructor({ engine }: EnginePlace) {
    const message =
      engine === null
        ? 'The cluster is a record: no engine of this installation runs anything on it.'
        : `The cluster needs the engine "${engine}", which this installation does not have.`
    super('conflict', message)
    this.name = 'NoEngineError'
  }
}

/** The engines of this installation by their names. They come and go with connected clusters. */
export interface Engines<Role = Engine> {
  /** The current engines. */
  readonly all: readonly NamedEngine<Role>[]
  /** Creates something for each engine while it is there, for work that each needs separately. */
  readonly each: <U>(create: (named: NamedEngine<Role>) => U) => Each<U>
  readonly engineOf: EngineOf<Role>
  readonly capabilitiesOf: CapabilitiesOf
  /** Returns the capacity of a cluster's engine, or of the first engine if it has none. */
  readonly capacityOf: (place: EnginePlace) => EngineCapacity
}

/** Throws for an empty roster. Clusters without an engine have the capacity of the first one. */
export function createEngines(roster: Roster<NamedEngine>): Engines {
  const [first] = roster.all
  if (!first) throw new Error('there is no engine')
  const find = ({ engine }: EnginePlace): Engine | undefined =>
    engine === null ? undefined : roster.find(engine)?.engine
  return {
    get all() {
      return roster.all
    },
    each: roster.each,
    engineOf: (place) => {
      const engine = find(place)
      if (!engine) throw new NoEngineError(place)
      return engine
    },
    capabilitiesOf: (place) => find(place)?.capabilities,
    capacityOf: (place) => (find(place) ?? first.engine).capacity,
  }
}

/**
 * Returns the engines on which a service may have left something: that of its cluster, or all of
 * them if the service no longer has a row.
 */
export const enginesOfRow = <Role>(
  { all, engineOf }: Pick<Engines<Role>, 'all' | 'engineOf'>,
  row: { readonly cluster_engine: string | null } | undefined,
): readonly Role[] =>
  row?.cluster_engine ? [engineOf({ engine: row.cluster_engine })] : all.map(({ engine }) => engine)

/** Returns the engine of a cluster, or `noEngine` if the cluster is only a record. */
export const engineOrNone = <Role>(engineOf: EngineOf<Role>, place: EnginePlace): Role | typeof noEngine =>
  place.engine === null ? noEngine : engineOf(place)

/** The name of a reconciler of one engine. The one of this machine keeps the plain name. */
export const reconcilerName = (name: string, engine: string): string =>
  engine === localEngine ? name : `${name} (${engine})`
