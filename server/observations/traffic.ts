import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { leadsElsewhere, leadsTo, setEndpoints, touchRoutes } from '../domains/index.ts'
import type { Clock } from '../lib/clock.ts'
import { endWaking, setLeaving } from '../scaling/index.ts'
import { lockService } from '../services/index.ts'
import { isWished, type WishRow } from './observation-store.ts'
import type { TrafficCarrier, TrafficMover } from './roles.ts'

/** The time limit of a hand-over. A table that misses it is handed over by the reconciler. */
const routerMs = 5_000

/**
 * Moves traffic under the lock that a deployment takes, so that an observation from before a
 * deployment does not overrule it.
 */
export function createTrafficMover({
  database,
  clock,
  carrier,
}: {
  readonly database: Database
  readonly clock: Clock
  readonly carrier: TrafficCarrier
}): TrafficMover {
  const move = async (sql: Sql, service: string, ...[release, endpoints]: Destination) => {
    if (!(await isWished(sql, { id: service, release_id: release }))) return false
    const isWoken = await endWaking(sql, service)
    return (await setEndpoints(sql, service, release, endpoints, clock.now())) && (isWoken ? 'woken' : 'moved')
  }
  /**
   * Runs the work under the lock of a service if the desired state is unchanged. Returns whether it
   * is.
   */
  const whileWished = (wish: WishRow, work: (sql: Sql) => Promise<unknown>): Promise<boolean> =>
    inTransaction(database, async (sql) => {
      await lockService(sql, wish.id)
      if (!(await isWished(sql, wish))) return false
      await work(sql)
      return true
    })
  return {
    moveTraffic: async (service, release, endpoints) => {
      if (await leadsTo(database, service, release, endpoints)) return
      const moved = await inTransaction(database, async (sql) => {
        await lockService(sql, service)
        return move(sql, service, release, endpoints)
      })
      // Requests wait for the service that wakes up. The reconciler would be too late for them.
      if (moved === 'woken') await carrier.apply(AbortSignal.timeout(routerMs))
      else if (moved) carrier.nudge()
    },
    isNew: (service, endpoints) => leadsElsewhere(database, service, endpoints),
    leave: async (wish, { staying, leaving }, signal) => {
      const stay = (sql: Sql) => setEndpoints(sql, wish.id, wish.release_id, staying, clock.now())
      if (!(await whileWished(wish, stay))) return false
      await carrier.apply(signal)
      const addresses = leaving.flatMap(({ endpoints }) => endpoints.map(({ address, port }) => ({ address, port })))
      if (addresses.length > 0) await carrier.drained(addresses, signal)
      const names = leaving.map(({ name }) => name)
      return whileWished(wish, (sql) => setLeaving(sql, wish.id, names))
    },
    failed: async (service) => {
      if (!(await endWaking(database, service))) return
      await touchRoutes(database)
      carrier.nudge()
    },
  }
}

type Destination = readonly [release: string, endpoints: Parameters<TrafficMover['moveTraffic']>[2]]
