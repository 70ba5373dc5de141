import type { Duplex } from 'node:stream'

/** Where a stream is sent. What it gives resolves once the client has taken enough to be sent more. */
export interface Outlet {
  /** One JSON value. */
  send(message: unknown): Promise<void>
  /** Carries bytes in both directions until the other side, or the client, ends. */
  carry(other: Duplex): Promise<void>
}
