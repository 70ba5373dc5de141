import { AppError } from '../lib/error.ts'
import { createSlots, type Slots } from '../lib/slots.ts'
import type { Database } from './database.ts'

export type Limit = { readonly timeout?: number }

/** Connections that owners share, opened when they are first needed. */
export interface SharedConnections {
  pool(): Database
  /** As many slots as connections. One owner gets only some, and others have a reserve. */
  readonly slots: Slots
  end(limit?: Limit): Promise<void>
}

const shares = { connections: 6, reserve: 1, perOwner: 4 }
/** Waiting time after which a statement or a unit of work of an owner is rejected. */
const patienceMs = 10_000

export function shareConnections(connect: (max: number) => Database): SharedConnections {
  let pool: Database | undefined
  return {
    pool: () => {
      pool ??= connect(shares.connections)
      return pool
    },
    slots: createSlots(shares.connections - shares.reserve, shares),
    end: async (limit) => pool?.end(limit),
  }
}

/** Waits for a slot of the owner, and no longer than patience lasts. */
export const takeSlot = ({ slots }: SharedConnections, owner: string): Promise<Disposable> =>
  slots.take(AbortSignal.timeout(patienceMs), owner).catch(() => {
    throw new AppError('unavailable', 'The database is overloaded. Try again in a moment.')
  })

/**
 * Opens a transaction once the owner has a connection for it. Takes the arguments of the driver's
 * `begin`.
 */
export async function beginInTurn(shared: SharedConnections, owner: string, ...args: readonly unknown[]) {
  using _ = shared.slots.takeNow(owner) ?? (await takeSlot(shared, owner))
  return await Reflect.apply(shared.pool().begin, undefined, args)
}
