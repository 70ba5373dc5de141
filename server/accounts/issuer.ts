/** Of an account of this platform: `account.issuer`. Not an address, for that may change. */
export const ownAccounts = 'quayside'

/** Where the issuer is mounted; its name is the public URL with this path, and the slash at the end belongs to it. */
export const issuerPath = '/oidc/'
export const issuerOf = (publicUrl: string): string => `${publicUrl}${issuerPath}`
