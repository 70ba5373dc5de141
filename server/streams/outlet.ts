import type { Duplex } from 'node:stream'

/** The receiver of a stream. Its promises resolve once the client can receive more. */
export interface Outlet {
  /** Sends one JSON value. */
  send(message: unknown): Promise<void>
  /** Carries bytes in both directions until the other side or the client ends. */
  carry(other: Duplex): Promise<void>
}
