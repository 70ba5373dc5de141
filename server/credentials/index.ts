/** Credentials for providers of clouds: kept, sealed, named by clusters. Nothing signs in with them. */
export { createCredentials } from './credentials.ts'
export { type CredentialsRow, findCredentials, insertCredentials } from './credentials-store.ts'
export type { CredentialsBody } from './variants.ts'
