import { freshMs, type SignInClaims, type SignInRule, signInMs } from '@quayside/contract/sign-in.ts'
import { after, wallClock } from './clock.ts'
import { limits } from './limits.ts'
import type { Routes } from './routes.ts'

/** A request or a connection of a person that is still open. */
export interface Visit {
  readonly claims: SignInClaims
  /** Breaks it off. */
  end(): void
}

/** Whether a session ended: it is too old, or its person signed out. */
export const isOver = ({ account, issuedAtMs }: SignInClaims, { people }: SignInRule): boolean =>
  wallClock() - issuedAtMs >= signInMs || issuedAtMs < (people[account] ?? 0)

/** Whether a person may enter. For some seconds the server knows it better than the list. */
export const isListed = ({ account, issuedAtMs }: SignInClaims, { people }: SignInRule): boolean =>
  Object.hasOwn(people, account) || Math.abs(wallClock() - issuedAtMs) < freshMs

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
      if (rule && (isOver(visit.claims, rule) || !isListed(visit.claims, rule))) visit.end()
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
