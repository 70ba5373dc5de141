import { AppError } from '../../lib/error.ts'

export interface StreamOwner {
  readonly callerId: string
  readonly organizationId: string
}

export interface StreamLimits {
  readonly perCaller: number
  readonly perOrganization: number
}

/**
 * Limits the open streams of each caller and organization. Returns a function that takes a place or
 * throws 429. The function that it returns releases the place.
 */
export function createStreamPlaces(limits: StreamLimits): (owner: StreamOwner) => () => void {
  const taken = new Map<string, number>()
  const change = (name: string, by: 1 | -1): void => {
    const now = (taken.get(name) ?? 0) + by
    if (now === 0) taken.delete(name)
    else taken.set(name, now)
  }
  return ({ callerId, organizationId }) => {
    const names = [`caller ${callerId}`, `organization ${organizationId}`] as const
    const isFull =
      (taken.get(names[0]) ?? 0) >= limits.perCaller || (taken.get(names[1]) ?? 0) >= limits.perOrganization
    if (isFull) {
      const allowed = `${limits.perCaller} for a token or account, ${limits.perOrganization} for an organization`
      throw new AppError('tooManyRequests', `Too many streams are open; the limit is ${allowed}. Close others first.`)
    }
    for (const name of names) change(name, 1)
    let isHeld = true
    return () => {
      if (isHeld) for (const name of names) change(name, -1)
      isHeld = false
    }
  }
}
