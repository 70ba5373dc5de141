import { createHmac, randomBytes } from 'node:crypto'

/** A sign-in of one browser: the interaction of our issuer, and the position of the other one. */
export interface OutsideAttempt {
  readonly uid: string
  readonly index: number
}

/** The values that belong to one visit of a browser at an outside issuer. */
export interface OutsideVisit {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

const form = /^([\w-]{10,60})\.(\d{1,2})\.([\w-]{22})\.[\w-]{43}$/

/** Pure: returns the sign-in that a state names. Undefined if the text is not a state. */
export function attemptOf(state: string): OutsideAttempt | undefined {
  const [, uid, index] = form.exec(state) ?? []
  return uid === undefined ? undefined : { uid, index: Number(index) }
}

/**
 * Creates the values of visits. They are computed from the key of the installation, so any server
 * can check them. Each visit has a random part of its own.
 */
export function createOutsideVisits(pepper: Buffer) {
  const visitOf = ({ uid, index }: OutsideAttempt, issuer: string, random: string): OutsideVisit => {
    const secret = (purpose: string): string =>
      createHmac('sha256', pepper)
        .update(`outside issuer\n${purpose}\n${uid}\n${issuer}\n${random}`)
        .digest('base64url')
    const state = `${uid}.${index}.${random}.${secret('state')}`
    return { state, nonce: secret('nonce'), verifier: secret('verifier') }
  }
  return {
    begin: (attempt: OutsideAttempt, issuer: string): OutsideVisit =>
      visitOf(attempt, issuer, randomBytes(16).toString('base64url')),
    /** Returns the visit with this state. Undefined if the sign-in has none. */
    find(attempt: OutsideAttempt, issuer: string, state: string): OutsideVisit | undefined {
      const visit = visitOf(attempt, issuer, form.exec(state)?.[3] ?? '')
      return visit.state === state ? visit : undefined
    },
  }
}
