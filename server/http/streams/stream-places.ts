import { AppError } from '../../lib/error.ts'

export interface StreamOwner {
  readonly callerId: string
  readonly organizationId: string
}

export interface StreamLimits {
  readonly perCaller: number
  readonly perOrganization: number
}

/** The place of an open stream. Releasing it again has no effect. */
export interface StreamPlace {
  release(): void
}

/**
 * Limits the open streams of each caller and organization. Returns a function that takes a place or
 * throws 429.
 */
export function createStreamPlaces(limits: StreamLimits): (owner: StreamOwner) => StreamPlace {
  const counts = new Map<string, Count>()
  const countOf = (name: string): Count => counts.get(name) ?? { name, taken: 0 }
  return ({ callerId, organizationId }) => {
    const caller = countOf(`caller ${callerId}`)
    const organization = countOf(`organization ${organizationId}`)
    if (caller.taken >= limits.perCaller || organization.taken >= limits.perOrganization) {
      const allowed = `${limits.perCaller} for a token or account, ${limits.perOrganization} for an organization`
      throw new AppError('tooManyRequests', `Too many streams are open; the limit is ${allowed}. Close others first.`)
    }
    return new HeldPlace(counts, caller, organization)
  }
}

/** The open streams of a caller or an organization. All their streams share it. */
interface Count {
  readonly name: string
  taken: number
}

class HeldPlace implements StreamPlace {
  readonly #counts: Map<string, Count>
  readonly #caller: Count
  readonly #organization: Count
  #isHeld = true

  constructor(counts: Map<string, Count>, caller: Count, organization: Count) {
    this.#counts = counts
    this.#caller = caller
    this.#organization = organization
    for (const count of [caller, organization]) {
      count.taken++
      counts.set(count.name, count)
    }
  }

  release(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    for (const count of [this.#caller, this.#organization]) {
      count.taken--
      if (count.taken === 0) this.#counts.delete(count.name)
    }
  }
}
