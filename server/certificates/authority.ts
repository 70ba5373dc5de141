import type { AcmeChallenge, ChallengeKind } from '@quayside/contract/routes.ts'
import type { Secret } from '../lib/secret.ts'

/** An account at a certificate authority. */
export interface Account {
  /** Its address at the authority. */
  readonly url: string
  /** Its private key, in PEM format. The authority of this installation has one for each root. */
  readonly key: Secret
  /** The roots of the authority of this installation, in PEM format, the oldest first. */
  readonly root?: string
}

/** A certificate as an authority issued it. */
export interface Issued {
  /** The certificate and the ones of its issuers, in PEM format. */
  readonly chain: string
  readonly key: Secret
  readonly notBefore: Date
  readonly notAfter: Date
}

/** How a host proves itself: at the router, or by a record in DNS (RFC 8555, 8.4). */
export type ProofKind = ChallengeKind | 'dns-01'

/**
 * The answer to a question of an authority about a host. With `dns-01` it is the text of a TXT
 * record.
 */
export interface HostProof extends Omit<AcmeChallenge, 'kind'> {
  readonly kind: ProofKind
}

/** An order for one host. */
export interface Order {
  readonly host: string
  /** How the authority checks the host. */
  readonly kind: ProofKind
  /** The certificate that the new one replaces (RFC 9773), in PEM format. */
  readonly replaces?: string
}

/** When an authority wants a certificate to be renewed (RFC 9773). */
export interface RenewalWindow {
  readonly start: Date
  readonly end: Date
  /** When the authority wants to be asked again. */
  readonly askAgainSeconds: number
}

/** A certificate authority (RFC 8555). */
export interface Authority {
  /** Creates an account with a new key. Accepts the terms of the authority. Throws RefusedError. */
  register(signal: AbortSignal): Promise<Account>
  /**
   * Returns the account with the next root, if that is due. It must be stored before an order.
   * Absent: the account stays the same.
   */
  readonly renewed?: (account: Account) => Promise<Account | undefined>
  /**
   * Orders a certificate for one host. `publish` must return once the host answers the
   * challenge.
   * Throws RefusedError, and the reason of `signal` on abort.
   */
  order(
    account: Account,
    order: Order,
    publish: (proof: HostProof) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Issued>
  /**
   * Returns when a certificate should be renewed. Undefined if the authority does not say. Throws
   * RefusedError, and the reason of `signal` on abort. Absent: it never says.
   */
  readonly renewalWindow?: (chain: string, signal: AbortSignal) => Promise<RenewalWindow | undefined>
}

/** The authority rejected a request or could not be reached. `message` is a sentence for users. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** How long the authority asks to wait. */
  readonly retryAfterSeconds: number
  /** The authority does not know the account any more. */
  readonly isAccountGone: boolean
  /** The host did not answer the authority as it should. Another kind of challenge may succeed. */
  readonly isCheck: boolean

  constructor(
    message: string,
    options: {
      readonly retryAfterSeconds?: number
      readonly isAccountGone?: boolean
      readonly isCheck?: boolean
      readonly cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.retryAfterSeconds = options.retryAfterSeconds ?? 0
    this.isAccountGone = options.isAccountGone ?? false
    this.isCheck = options.isCheck ?? false
  }
}
