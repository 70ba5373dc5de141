import type { Contribution } from '../fixture.ts'
import { addPerson } from '../people.ts'

/** Adds a custom role, a member with that role, and an invitation. */
export const accessObjects: Contribution = async ({ database, rooms, tenant, suffix }) => {
  const { organizationId, name } = tenant
  const role = await rooms.customRoles.create(organizationId, { name: `role ${suffix}` })
  const member = { organizationId, customRoleId: role.id }
  await addPerson(database, { email: `member-${suffix}@${name.toLowerCase()}.example`, member })
  const inviter = {
    id: organizationId,
    kind: 'token',
    name: 'fixture',
    accountId: undefined,
    permissions: ['ADMIN'],
    rights: { permissions: ['ADMIN'] },
    organizationId,
  } as const
  const email = `guest-${suffix}@${name.toLowerCase()}.example`
  const invitation = await rooms.invitations.create(organizationId, inviter, { email })
  // Nobody has this role, so tests can delete it.
  const free = await rooms.customRoles.create(organizationId, { name: `free role ${suffix}` })
  return { customRoleId: free.id, inviteId: invitation.id, invitationLink: invitation.invitation_link }
}
