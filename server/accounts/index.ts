/** People who sign in here: their accounts and passwords, and the OpenID Connect issuer that speaks for them. */
export { type Accounts, createAccounts } from './accounts.ts'
export { joinPath, setupPath, withoutLink } from './handler.ts'
export { issuerOf, issuerPath, ownAccounts } from './issuer.ts'
export type { IssuerKeys } from './issuer-keys.ts'
export { ownColumns } from './own-columns.ts'
