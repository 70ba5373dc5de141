/**
 * Authentication and authorization: API tokens, JWTs, roles, members. Knows nothing of the
 * requested objects.
 */
export { createAccountInfo } from './account-info.ts'
export { type AccountRow, findAccount, insertAccount } from './account-store.ts'
export { type ApiTokenRequest, createApiTokens, type TokenMaker } from './api-tokens.ts'
export { type Authorized, authorize, type Membership, unauthorized } from './authorize.ts'
export { authorizeParent } from './authorize-parent.ts'
export type { TargetQuery } from './authorize-store.ts'
export {
  type Caller,
  mayAccess,
  mayOn,
  type Place,
  requireNewEnvironment,
  requireOn,
  type Visible,
  visible,
} from './caller.ts'
export { type Credential, credentialReader, type ReadCredential, readToken } from './credential.ts'
export { createCustomRoles } from './custom-roles.ts'
export type { InvitationRow } from './invitation-store.ts'
export { createInvitations, type Invitations, mailAddress } from './invitations.ts'
export { createJwtVerifier, type Issuer, type IssuerSignIn, type OwnIssuer, outsideClaim } from './jwt.ts'
export { syncMembers } from './listed-members.ts'
export { insertMember as addMember } from './member-store.ts'
export { addOwner, createMembers, formerRoles } from './members.ts'
export { ownRights } from './own-rights.ts'
export { placeOf } from './place.ts'
export { builtInRoleId, listAvailableRoles } from './roles.ts'
