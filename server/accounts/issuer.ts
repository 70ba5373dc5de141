/**
 * The value of `account.issuer` for an account of this platform. It is not an address, because
 * addresses may change.
 */
export const ownAccounts = 'quayside'

/** The issuer's path. Its name is the public URL with this path, including the slash at the end. */
export const issuerPath = '/oidc/'
export const issuerOf = (publicUrl: string): string => `${publicUrl}${issuerPath}`

/** The sign-in page, below the path of the issuer. */
export const signInPath = `${issuerPath}sign-in/`

/** Where outside issuers send people back. Their clients must list it. */
export const outsidePath = `${issuerPath}outside`

/** How long a person has for the sign-in page, with a visit at an outside issuer. */
export const interactionSeconds = 600

/** The page of the signed-in person's account. */
export const accountPath = `${issuerPath}account`
