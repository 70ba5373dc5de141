import type { Duplex } from 'node:stream'
import type { ConnectionLimits, Shares } from '@quayside/contract/connection-shares.ts'
import type { AccessLines } from './access-lines.ts'
import type { Certificates } from './certificates.ts'
import type { Compressors } from './compressors.ts'
import type { Log } from './log.ts'
import type { Passwords } from './passwords.ts'
import type { RequestLimits } from './request-limits.ts'
import type { Routes } from './routes.ts'
import type { ServiceCounts } from './service-counts.ts'
import type { SignInTokens } from './sign-in-tokens.ts'
import type { Visits } from './visits.ts'
import type { Waiting } from './waiting.ts'

/** Counters since the process started. `open` is the current number. */
export interface Counts {
  requests: number
  open: number
  upgrades: number
  /** Tries after the first. */
  retries: number
  /** Requests refused because of their form. */
  refused: number
  /** Requests that reached no endpoint, or that an endpoint broke off. */
  failed: number
}

/** The state that all requests share. */
export interface Traffic {
  readonly routes: Routes
  readonly waiting: Waiting
  readonly passwords: Passwords
  readonly tokens: SignInTokens
  readonly visits: Visits
  readonly requestLimits: RequestLimits
  readonly certificates: Certificates
  readonly compressors: Compressors
  readonly counts: Counts
  /** The numbers of each service. */
  readonly services: ServiceCounts
  readonly lines: AccessLines
  readonly log: Log
  /** The port that clients use, sent as `X-Forwarded-Port`. */
  port: string
  /** The same for HTTPS. Empty if the router speaks HTTP only. */
  tlsPort: string
  /** The ports on which the router listens. */
  readonly listens: { port: number; tlsPort?: number }
  /** Whether a peer's `X-Forwarded-*` headers are trusted. */
  readonly trusts: (address: string) => boolean
  /** Whether connections from an address are of many clients. */
  readonly isProxy: (address: string) => boolean
  /** The limits of each port. */
  readonly connections: ConnectionLimits
  /** The open requests of each client at the platform itself. */
  readonly doorShares: Shares
  /** Upgraded HTTP connections and TCP connections of clients. */
  readonly tunnels: Set<Duplex>
  /** Each connection ends after its current response. */
  leaving: boolean
  /** The router shuts down: no request waits for a sleeping service any more. */
  closing: boolean
}

export const newCounts = (): Counts => ({ requests: 0, open: 0, upgrades: 0, retries: 0, refused: 0, failed: 0 })
