import type { Duplex } from 'node:stream'

/** The receiver of a stream. Its promises resolve once the client can receive more. */
export interface Outlet {
  /** Sends one JSON value. */
  send(message: unknown): Promise<void>
  /**
   * Carries bytes in both directions until the other side or the client ends. `onText` receives the
   * text messages of the client, which are bytes like all others without it.
   */
  carry(other: Duplex, onText?: (text: string) => void): Promise<void>
}
