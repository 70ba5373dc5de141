/** Who asks, and may they: API tokens, JWTs, permissions. Says nothing about what is asked for. */
export { type ApiTokenRequest, createApiTokens } from './api-tokens.ts'
export { type Authorized, authorize, notFound, unauthorized } from './authorize.ts'
export type { TargetQuery } from './authorize-store.ts'
export { type Caller, mayAccess } from './caller.ts'
export { type Credential, credentialReader, type ReadCredential, readToken } from './credential.ts'
export { createJwtVerifier, type Issuer } from './jwt.ts'
export { syncMembers } from './members.ts'
