import { operation } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

/** Role names for older clients. `role_id` and `role_name` are more precise. */
export const memberRoles = ['ADMIN', 'DEVELOPER', 'OWNER', 'VIEWER'] as const
const role = {
  role: Enum(memberRoles),
  role_id: Nullable(Uuid),
  role_name: Type.String(),
}

export const Member = Type.Object({
  ...base,
  ...role,
  name: Type.String(),
  nickname: Type.String(),
  email: Type.String({ description: 'empty for people of an external issuer' }),
  profile_picture_url: Nullable(Type.String()),
  last_activity_at: Nullable(Timestamp),
})

export const Invitation = Type.Object({
  ...base,
  ...role,
  email: Type.String(),
  invitation_link: Type.String({
    description: 'proves that its holder is invited; complete only for callers who may invite',
  }),
  invitation_status: Enum(['EXPIRED', 'PENDING']),
  organization_name: Type.String(),
  inviter: Type.String(),
  logo_url: Nullable(Type.String()),
})

const AvailableRole = Type.Object({ id: Uuid, name: Type.String() })

const tag = 'Member'
const path = '/organization/{organizationId}'
const onOrganization = { target: 'organization', tag } as const
const invitation = { type: 'CREATE', target: 'MEMBERS_AND_ROLES', sub: 'INVITATION' } as const

export const memberOperations = {
  getOrganizationMembers: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/member`,
    handler: 'listMembers',
    access: 'read',
    summary: 'Lists the members of an organization, oldest first.',
    reply: Results(Member),
    status: 200,
  }),
  editOrganizationMemberRole: operation({
    ...onOrganization,
    method: 'PUT',
    path: `${path}/member`,
    handler: 'editMemberRole',
    access: 'admin',
    event: { type: 'UPDATE', target: 'MEMBERS_AND_ROLES', sub: 'MEMBER_ROLE' },
    summary: 'Changes the role of a member, from the next request on. 409 for the owner.',
    body: Type.Object({ user_id: Text(100, 1), role_id: Uuid }),
    reply: NoBody,
    status: 200,
  }),
  deleteMember: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/member`,
    handler: 'deleteMember',
    access: 'admin',
    event: { type: 'DELETE', target: 'MEMBERS_AND_ROLES' },
    summary: 'Removes a member and revokes the API tokens that the member created. 409 for the owner.',
    body: Type.Object({ user_id: Uuid }),
    reply: NoBody,
    status: 204,
  }),
  getOrganizationInvitedMembers: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/inviteMember`,
    handler: 'listInvitations',
    access: 'admin',
    summary: 'Lists the pending invitations of an organization.',
    reply: Results(Invitation),
    status: 200,
  }),
  postInviteMember: operation({
    ...onOrganization,
    method: 'POST',
    path: `${path}/inviteMember`,
    handler: 'createInvitation',
    access: 'admin',
    event: invitation,
    summary:
      'Creates an invitation that is valid for seven days, while its inviter may invite. No mail is sent: forward ' +
      '`invitation_link`. The default role is Viewer.',
    body: Type.Object({
      email: Text(320, 3),
      role: Type.Optional(Enum(memberRoles)),
      role_id: Type.Optional(Uuid),
    }),
    reply: Invitation,
    status: 201,
  }),
  getMemberInvitation: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/inviteMember/{inviteId}`,
    handler: 'getInvitation',
    access: 'admin',
    summary: 'Returns an invitation.',
    reply: Invitation,
    status: 200,
  }),
  postAcceptInviteMember: operation({
    method: 'POST',
    path: `${path}/inviteMember/{inviteId}`,
    handler: 'acceptInvitation',
    target: 'caller',
    access: 'read',
    tag,
    event: { ...invitation, type: 'ACCEPT' },
    summary:
      'Accepts an invitation. The body must contain the complete `invitation_link`, and the caller must be a person ' +
      'whose account has the invited address.',
    body: Type.Object({ invitation_link: Type.Optional(Text(2_000)) }),
    reply: Invitation,
    status: 201,
  }),
  deleteInviteMember: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/inviteMember/{inviteId}`,
    handler: 'deleteInvitation',
    access: 'admin',
    event: { ...invitation, type: 'DELETE' },
    summary: 'Deletes an invitation.',
    reply: NoBody,
    status: 204,
  }),
  postOrganizationTransferOwnership: operation({
    ...onOrganization,
    method: 'POST',
    path: `${path}/transferOwnership`,
    handler: 'transferOwnership',
    access: 'admin',
    owner: true,
    event: { type: 'UPDATE', target: 'MEMBERS_AND_ROLES', sub: 'TRANSFER_OWNERSHIP' },
    summary: 'Transfers the ownership of an organization to a member. The previous owner becomes an Admin.',
    body: Type.Object({ user_id: Uuid }),
    reply: NoBody,
    status: 204,
  }),
  listOrganizationAvailableRoles: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/availableRole`,
    handler: 'listAvailableRoles',
    access: 'read',
    summary: 'Lists the roles for members and API tokens: first the built-in ones, then custom ones.',
    reply: Results(AvailableRole),
    status: 200,
  }),
} as const
