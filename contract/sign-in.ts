/**
 * Applications behind the platform's own sign-in, as far as the server and its routers must agree.
 * The server signs a token for a person. A router checks it with the public key alone.
 */

/** The rule of a route that only some members of its organization may use. */
export interface SignInRule {
  /** The page of the platform where people sign in. */
  readonly page: string
  /** The public key of Ed25519 that checks tokens: 32 bytes in base64url. */
  readonly key: string
  /** The organization, and the roles whose members may enter. They name lists of the table. */
  readonly organization: string
  readonly roles: readonly string[]
}

/**
 * The members of organizations with such rules, in lists by organization and role (`listName`). A
 * list has accounts by their ids. Each has the time before which its tokens are invalid, in
 * milliseconds: its last sign-out.
 */
export type PeopleLists = Readonly<Record<string, PeopleList>>
export type PeopleList = Readonly<Record<string, number>>

export const listName = (organization: string, role: string): string => `${organization}/${role}`

/**
 * Returns the time before which the tokens of an account are invalid. Undefined if the account may
 * not enter.
 */
export function admittedSince(
  people: PeopleLists,
  { organization, roles }: Pick<SignInRule, 'organization' | 'roles'>,
  account: string,
): number | undefined {
  for (const role of roles) {
    const list = people[listName(organization, role)]
    if (list && Object.hasOwn(list, account)) return list[account]
  }
  return undefined
}

/** The signed content of a token. */
export interface SignInClaims {
  readonly service: string
  /** The host name in lower case, without port. */
  readonly host: string
  readonly account: string
  readonly email: string
  /** The name of the person's role. */
  readonly role: string
  /** The SHA-256 of a secret that only the person's browser has, in base64url. */
  readonly challenge: string
  /** The SHA-256 of the path to which the browser returns, in base64url. */
  readonly path: string
  readonly issuedAtMs: number
}

/** Routers answer this path themselves on hosts with such a rule. */
export const signInPath = '/.well-known/quayside/sign-in'
/** A token may begin a session for so long after it was issued. */
export const tokenStartMs = 60_000
/**
 * For so long the server's own look at the members counts, because a router may not have the newest
 * list yet.
 */
export const freshMs = 10_000
/** A session ends so long after its token was issued. */
export const signInMs = 12 * 3600_000
/** The text before the content of a token that the signature covers too. */
export const tokenPurpose = 'quayside sign-in 1\n'
export const longestToken = 3_000

const longestReturn = 2_000

/**
 * Returns whether a browser that is sent to this path stays on the host. `//host` would be another
 * one.
 */
export const isReturnPath = (path: string): boolean =>
  path.length <= longestReturn && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path)

/** Returns the content of a token whose signature is valid. Undefined if it is malformed. */
export function readClaims(given: unknown): SignInClaims | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const { service, host, account, email, role, challenge, path, issuedAtMs } = given as Record<string, unknown>
  const texts = { service, host, account, email, role, challenge, path }
  if (!areTexts(texts) || typeof issuedAtMs !== 'number' || !Number.isSafeInteger(issuedAtMs)) return undefined
  return { ...texts, issuedAtMs }
}

const areTexts = <K extends string>(values: Record<K, unknown>): values is Record<K, string> =>
  Object.values(values).every((value) => typeof value === 'string')
