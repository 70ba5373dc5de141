import { admittedSince, freshMs, type SignInClaims, signInMs } from '@quayside/contract/sign-in.ts'
import { after, wallClock } from './clock.ts'
import { limits } from './limits.ts'
import type { Routes } from './routes.ts'

/** A request or a connection of a person that is still open. */
export interface Visit {
  readonly claims: SignInClaims
  /** Breaks it off. */
  end(): void
}

/**
 * Whether a session ended: it is too old, or its person signed out. `sinceMs` is what
 * `admittedSince` returns for the person.
 */
export const isOver = ({ issuedAtMs }: SignInClaims, sinceMs: number | undefined): boolean =>
  wallClock() - issuedAtMs >= signInMs || issuedAtMs < (sinceMs ?? 0)

/** Whether a person may enter. For some seconds the server knows it better than the lists. */
export const isListed = ({ issuedAtMs }: SignInClaims, sinceMs: number | undefined): boolean =>
  sinceMs !== undefined || Math.abs(wallClock() - issuedAtMs) < freshMs

/**
 * The open requests and connections of signed-in people. They are looked at again and again, so
 * that an open WebSocket ends with the right to open it.
 */
export class Visits {
  readonly #routes: Routes
  readonly #open = new Set<Visit>()
  #isLooking = false

  constructor(routes: Routes) {
    this.#routes = routes
  }

  /** Returns how many are open. */
  get size(): number {
    return this.#open.size
  }

  /** Watches a visit. The returned function must be called at its end. */
  watch(visit: Visit): () => void {
    this.#open.add(visit)
    this.#lookLater()
    return () => void this.#open.delete(visit)
  }

  /** Ends the visits of people who may not be there any more. */
  look(): void {
    if (this.#open.size === 0) return
    const rules = new Map(this.#routes.table.routes.map(({ service, rules }) => [service, rules?.signIn]))
    for (const visit of this.#open) {
      const rule = rules.get(visit.claims.service)
      if (!rule) continue
      const sinceMs = admittedSince(this.#routes.people, rule, visit.claims.account)
      if (isOver(visit.claims, sinceMs) || !isListed(visit.claims, sinceMs)) visit.end()
    }
  }

  #lookLater(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    after(limits.visitsMs, () => {
      this.#isLooking = false
      this.look()
      if (this.#open.size > 0) this.#lookLater()
    })
  }
}
