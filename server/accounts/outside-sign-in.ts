import { AppError, messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { signInPath } from './issuer.ts'
import type { OutsideIssuers } from './outside-issuers.ts'
import type { OutsideLimit } from './outside-limits.ts'
import type { OutsidePerson } from './outside-person.ts'
import { attemptOf, type OutsideAttempt } from './outside-state.ts'
import { type Refusal, refusalOf } from './refusal.ts'

export interface OutsideSignInOptions {
  readonly issuers: OutsideIssuers
  readonly log: Logger
  /** Records the sign-in. Returns the account, or undefined for a person who is no member. */
  readonly save: (person: OutsidePerson) => Promise<string | undefined>
  readonly limit: OutsideLimit
  /** Marks a state as used. Returns false if it was used before. */
  readonly take: (state: string) => Promise<boolean>
}
export type OutsideSignIn = ReturnType<typeof createOutsideSignIn>

/** The next step of a sign-in: the issuer's page, an account, or the reason why there is none. */
export type OutsideStep =
  | { readonly name: string; readonly location: string }
  | { readonly accountId: string }
  | Refusal

/** The query with which a browser came back, and the address of the client. */
export interface OutsideReturn {
  readonly query: string
  readonly address: string
}

/**
 * Leads a person through the sign-in at an outside issuer and back, below the address of the
 * sign-in page: its cookie says which browser began.
 */
export function createOutsideSignIn({ issuers, log, save, limit, take }: OutsideSignInOptions) {
  return {
    names: issuers.names,

    /**
     * Returns the address at which a browser continues that an issuer sent back. Undefined if
     * nobody began that sign-in.
     */
    backAt(query: string): string | undefined {
      const attempt = attemptOf(new URLSearchParams(query).get('state') ?? '')
      return attempt && `${signInPath}${attempt.uid}/${attempt.index}?${query}`
    },

    /**
     * `query` is what the issuer sent, and empty at the beginning. `address` is the client's, for
     * limits.
     */
    async step(attempt: OutsideAttempt, { query, address }: OutsideReturn): Promise<OutsideStep> {
      const name = issuers.names[attempt.index]
      if (name === undefined) throw new AppError('notFound', 'This link is invalid, expired or already used.')
      try {
        if (query === '') return { name, location: await issuers.begin(attempt) }
        const answer = issuers.read(attempt, new URLSearchParams(query))
        if (!(await take(answer.state))) return used(name)
        const { redeem } = await answer.check()
        let refusal = failed(name)
        const accountId = await limit({ address, issuer: answer.issuer }, async () => {
          const person = await redeem()
          refusal = unknownPerson(name, person.subject)
          return save(person)
        })
        return accountId === undefined ? refusal : { accountId }
      } catch (error) {
        if (error instanceof AppError) return refusalOf(error)
        // The cause is not logged: it may have tokens.
        log.warn({ issuer: name, reason: messageOf(error) }, 'a sign-in at an outside issuer failed')
        return failed(name)
      }
    },
  }
}

const failed = (name: string): Refusal => ({
  status: 403,
  problem: `${name} did not sign you in. Try again, or ask an administrator.`,
})

const used = (name: string): Refusal => ({
  status: 403,
  problem: `This answer of ${name} was already used. Sign in again.`,
})

const unknownPerson = (name: string, subject: string): Refusal => ({
  status: 403,
  problem: `${name} knows you as "${subject}", who is not a member here. Ask an administrator to list that name.`,
})
