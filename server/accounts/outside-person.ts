import { mailAddress } from '../access/index.ts'
import { printable } from '../lib/text.ts'

/** A person whom an outside issuer signed in. */
export interface OutsidePerson {
  readonly issuer: string
  readonly subject: string
  /** Null: the issuer does not say it. */
  readonly name: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  /** Only an address that the issuer verified. Anybody could write another one. */
  readonly outside_email: string | null
}

const longestName = 255

/** Pure: returns the person of verified claims. */
export function personOf(issuer: string, claims: Readonly<Record<string, unknown>> & { readonly sub: string }) {
  const { sub, email, email_verified } = claims
  const isVerified = typeof email === 'string' && email_verified === true && mailAddress.test(email)
  return {
    issuer,
    subject: sub,
    name: nameIn(claims['name']),
    first_name: nameIn(claims['given_name']),
    last_name: nameIn(claims['family_name']),
    outside_email: isVerified ? email : null,
  } satisfies OutsidePerson
}

function nameIn(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const name = printable(value.slice(0, longestName).normalize('NFC')).trim()
  return name === '' ? null : name
}
