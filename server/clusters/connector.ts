import type { Database, DueReconciler } from '../database/index.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { type ConnectionRow, listConnections, marksOf, otherConnections } from './connection-store.ts'

/** A connected cluster: one with a kubeconfig. */
export interface Connection {
  readonly id: string
  readonly organizationId: string
  /** The name of its engine. */
  readonly engine: string
  /** Whether names of its services lead to its own ingress controller. */
  readonly hasDomain: boolean
}

/**
 * The functions of other rooms that a connector calls. `T` is the set of drivers of one cluster.
 */
export interface ConnectorOptions<T extends { close(): void }> {
  readonly database: Database
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Stores a connection that the operator has set. */
  readonly adopt?: () => Promise<void>
  /** Creates the drivers of a cluster. Asks nobody yet. */
  readonly connect: (connection: Connection) => T
  /** Adds drivers under the name of an engine. */
  readonly join: (engine: string, drivers: T) => void
  readonly leave: (engine: string) => void
}

interface Joined<T> {
  readonly row: ConnectionRow
  readonly drivers: T
}

/**
 * Keeps one set of drivers for each connected cluster. A new kubeconfig replaces them. Deployments
 * that run keep the drivers with which they began.
 */
export function createConnector<T extends { close(): void }>(options: ConnectorOptions<T>): DueReconciler {
  const { database, log, adopt, connect, join, leave } = options
  const joined = new Map<string, Joined<T>>()

  const disconnect = ({ row, drivers }: Joined<T>): void => {
    leave(row.engine)
    joined.delete(row.engine)
    drivers.close()
    log.info({ clusterId: row.id }, 'a cluster was disconnected')
  }
  const connectTo = (row: ConnectionRow): void => {
    const { id, engine, organization_id: organizationId, has_domain: hasDomain } = row
    const drivers = connect({ id, engine, organizationId, hasDomain })
    join(engine, drivers)
    joined.set(engine, { row, drivers })
    log.info({ clusterId: id }, 'a cluster was connected')
  }

  return {
    name: 'clusters',
    everyMs: 10_000,
    due: (sql) => otherConnections(sql, marksOf([...joined.values()].map(({ row }) => row))),
    reconcile: async () => {
      await adopt?.().catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the cluster of QUAYSIDE_IN_CLUSTER_ID could not be connected')
      })
      const rows = await listConnections(database)
      for (const one of joined.values()) if (!rows.some((row) => isSame(row, one.row))) disconnect(one)
      for (const row of rows) {
        if (joined.has(row.engine)) continue
        try {
          connectTo(row)
        } catch (error) {
          log.warn({ clusterId: row.id, reason: messageOf(error) }, 'a cluster could not be connected')
        }
      }
    },
  }
}

const isSame = (one: ConnectionRow, other: ConnectionRow): boolean =>
  one.engine === other.engine && one.kubeconfig_mark === other.kubeconfig_mark && one.has_domain === other.has_domain

/** For an installation whose clusters are all on this machine. */
export function noConnection({ engine }: Connection): never {
  throw new Error(`this installation has no drivers for the engine "${engine}"`)
}
