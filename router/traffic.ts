import type { Duplex } from 'node:stream'
import type { ConnectionLimits } from '@quayside/contract/connection-shares.ts'
import type { Log } from './log.ts'
import type { Passwords } from './passwords.ts'
import type { Routes } from './routes.ts'
import type { Waiting } from './waiting.ts'

/** Counted since the process started; `open` is now. */
export interface Counts {
  requests: number
  open: number
  upgrades: number
  /** Tries beyond the first. */
  retries: number
  /** Requests refused because of their form. */
  refused: number
  /** Requests for which no endpoint could be reached, or which an endpoint broke off. */
  failed: number
}

/** What every request needs to know. */
export interface Traffic {
  readonly routes: Routes
  readonly waiting: Waiting
  readonly passwords: Passwords
  readonly counts: Counts
  readonly log: Log
  /** The port that clients are told as `X-Forwarded-Port`. */
  port: string
  /** Whether a peer's `X-Forwarded-*` are believed. */
  readonly trusts: (address: string) => boolean
  /** Of each port. */
  readonly connections: ConnectionLimits
  /** Client connections that were upgraded. */
  readonly tunnels: Set<Duplex>
  /** At a shutdown connections end with the answer that is open on them. */
  closing: boolean
}

export const newCounts = (): Counts => ({ requests: 0, open: 0, upgrades: 0, retries: 0, refused: 0, failed: 0 })
