/** People who sign in: their accounts and passwords, and the OpenID Connect issuer for them. */
export { type Accounts, createAccounts } from './accounts.ts'
export { applicationIssuer } from './application-tokens.ts'
export { joinPath, setupPath, withoutLink } from './handler.ts'
export { issuerOf, issuerPath, ownAccounts } from './issuer.ts'
export type { IssuerKeys } from './issuer-keys.ts'
export { ownColumns } from './own-columns.ts'
